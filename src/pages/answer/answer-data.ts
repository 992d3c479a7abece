import type { DataInterface } from '../../client/rest.ts'

/** The data that the answer page is rendered from. */
export interface AnswerData {
  backend: DataInterface
  /** The title of the form's page. */
  title: string
}
