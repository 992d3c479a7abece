/** A count that stops at a thousand; `more` says whether there are more. */
export interface Count {
  count: number
  more: boolean
}
