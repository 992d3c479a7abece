import type { DataInterface } from '../../client/data-interface.ts'

/** The data from which the answer page is rendered. */
export interface AnswerData {
  backend: DataInterface
}
