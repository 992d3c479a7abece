import type { DataInterface } from '../../client/rest.ts'

/** The data that the desk is rendered from. */
export interface DeskData {
  backend: DataInterface
  /** Whether organisers sign in at a hosted project. This server then knows only the project's database. */
  signInIsElsewhere: boolean
  /** The title of the form's page, by which the desk is called, too. */
  title: string
  /** The version of the program that rendered the page. */
  version: string
}
