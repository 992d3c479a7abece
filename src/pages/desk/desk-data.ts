import type { DataInterface } from '../../client/rest.ts'

/** The data from which the desk is rendered. */
export interface DeskData {
  backend: DataInterface
  /** Whether organisers sign in at a hosted project, which this server knows only the database of. */
  signInIsElsewhere: boolean
  /** Of the program that rendered it. */
  version: string
}
