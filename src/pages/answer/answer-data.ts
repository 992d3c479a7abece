import type { DataInterface } from '../../client/rest.ts'

/** The data from which the answer page is rendered. */
export interface AnswerData {
  backend: DataInterface
}
