import type { DataInterface } from '../../client/data-interface.ts'

/** What a rendering of the desk was made from. */
export interface DeskData {
  backend: DataInterface
  /** Whether organisers sign in at a hosted project, which this server knows only the database of. */
  signInIsElsewhere: boolean
}
