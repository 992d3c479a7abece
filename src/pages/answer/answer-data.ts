import type { DataInterface } from '../../client/data-interface.ts'

/** What a rendering of the answer page was made from. */
export interface AnswerData {
  backend: DataInterface
}
