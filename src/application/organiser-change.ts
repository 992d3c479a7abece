/** A change of an organiser: an invitation, a removal, or of what they may do. */
export type OrganiserChange = {
  /** The email. */
  organiser: string
} & (
  | {
      is_reader: boolean
      /** The account, if the organiser was invited. */
      invited?: string
    }
  | { is_removed: true }
)

/** What an organiser may do, after “may”. */
export function rightWords(isReader: boolean): string {
  return isReader ? 'read, mark and write notes' : 'do everything'
}

/** A change of an organiser in words, without a full stop. */
export function organiserChangeWords(change: OrganiserChange): string {
  if ('is_removed' in change) return `${change.organiser} was removed`
  const invited = change.invited === undefined ? '' : ' was invited, and'
  return `${change.organiser}${invited} may ${rightWords(change.is_reader)}`
}
