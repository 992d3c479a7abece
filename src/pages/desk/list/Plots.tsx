import type { Overview } from '../../../client/desk.ts'

/** How the applications of the list are made up, as small plots and as a table of the same numbers. */
export function Plots(_: { overview: Overview }) {
  return null
}
