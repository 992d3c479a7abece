import type { DataInterface } from '../../client/rest.ts'

/** The data that the desk is rendered from. */
export interface DeskData {
  backend: DataInterface
  /** Whether organisers sign in at a hosted project, of which this server knows only the database. */
  signInIsElsewhere: boolean
  /** The version of the program that rendered the page. */
  version: string
}
