import { withFullStop } from '../../design/look.ts'
import type { Message } from '../mail/compose.ts'
import type { LetterClaim } from './claims.ts'

/** Composes the email to an applicant. */
export function letterMessage(claim: LetterClaim, siteTitle: string): Message {
  return {
    ...claim,
    why: { text: `You receive this email because ${reasonOf(claim)} to ${withFullStop(siteTitle)}` },
  }
}

/** Somebody else may have entered an applicant's address in the form, and so have caused a receipt. */
function reasonOf({ kind, is_added: isAdded, added_by: addedBy }: LetterClaim) {
  if (isAdded) return `${addedBy ?? 'an organiser'} added you as an applicant`
  return kind === 'letter' ? 'you applied' : 'somebody, probably you, applied with this address'
}
