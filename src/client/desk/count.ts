/** A number that was not counted further than a thousand. */
export interface Count {
  count: number
  more: boolean
}
