import type { Status } from '../../../application/statuses.ts'
import type { LetterState } from '../../../client/desk/letters.ts'
import { shortMomentOf } from '../kit/format.ts'

/** The statuses that letters announce to applicants. */
const announcedStatuses: readonly string[] = ['accepted', 'waitlisted', 'declined'] satisfies Status[]

/** Whether letters of this occasion announce a decision. */
export function isOfDecision(occasion: string): occasion is Status {
  return announcedStatuses.includes(occasion)
}

/**
 * The letter that says whether an applicant was told their status: the last email, or without an email the last letter to the
 * automation. If they were told another decision since, or nothing, it is the draft; undefined if there is none.
 *
 * @param letters The letters to the applicant, the oldest first.
 */
export function letterAbout<Letter extends LetterState>(
  status: Status,
  letters: readonly Letter[],
): Letter | undefined {
  const ofStatus = letters.filter(({ occasion, state }) => occasion === status && state !== 'withdrawn')
  const released = ofStatus.filter(({ state }) => state !== 'draft')
  const last = released.findLast(({ way }) => way === 'mail') ?? released.at(-1)
  const told = letters.findLast(({ occasion, state }) => state === 'sent' && isOfDecision(occasion))
  return last && (last.state !== 'sent' || told?.occasion === status)
    ? last
    : ofStatus.find(({ state }) => state === 'draft')
}

/**
 * Whether an applicant was told their status, in the same words for each status; blank for a status that no letter announces.
 *
 * @param letter The letter about the status, as `letterAbout` finds it.
 */
export function toldWords(status: Status, letter: LetterState | undefined, now = new Date()): string {
  if (!isOfDecision(status)) return ''
  if (letter === undefined) return 'Not told yet'
  const { state, way, otherwise } = letter
  const what = way === 'mail' ? 'Letter' : 'Decision'
  switch (state) {
    case 'draft':
      return 'Draft waits'
    case 'waiting':
    case 'sending':
      return 'On the way'
    case 'refused':
      return `${what} refused`
    case 'given up':
      return 'Not delivered'
    case 'withdrawn':
      return `${what} stopped`
    case 'sent':
      if (otherwise === 'told') return 'Contacted another way'
      return `${way === 'mail' ? 'Told' : 'Automation told'}${whenOf(letter, now)}`
  }
}

function whenOf({ sent_at: at }: LetterState, now: Date) {
  if (!at) return ''
  const isToday = new Date(at).toDateString() === now.toDateString()
  return ` ${isToday ? 'at' : 'on'} ${shortMomentOf(at, now)}`
}
