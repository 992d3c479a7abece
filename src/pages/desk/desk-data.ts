import type { DataInterface } from '../../client/rest.ts'
import type { OperatorLook } from '../../design/look.ts'

/** The data that the desk is rendered from. */
export interface DeskData {
  backend: DataInterface
  /** Whether organisers sign in at a hosted project. This server is then connected only to the project's database. */
  isSignInElsewhere: boolean
  /** The title of the form's page, which the desk shows, too. */
  title: string
  /** The words of the pages that the operator's settings have, which organisers cannot change. */
  operator: OperatorLook
  /** The version of the program that rendered the page. */
  version: string
}
