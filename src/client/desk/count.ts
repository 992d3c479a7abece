/** A number that was counted only up to a thousand. */
export interface Count {
  count: number
  more: boolean
}
