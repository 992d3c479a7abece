import type { DataInterface } from '../../client/rest.ts'

/** The data that the page for withdrawing an application is rendered from. */
export interface WithdrawData {
  backend: DataInterface
}
