import { calendarFileName, calendarFileOf, daysOf } from '../../application/calendar.ts'
import type { Invitation } from '../../client/invitation.ts'
import {
  byMailSentence,
  calendarLabel,
  cannotComeIntro,
  incompleteSentence,
  invalidSentence,
  openAgainSentence,
  overSentence,
  questionsIntro,
  rsvpSentences,
} from './copy.ts'
import { dayOf, element, sentence } from './elements.ts'

/** Characters of the token in a complete link. */
const tokenLength = 36

/**
 * The sentences about an invitation; the first one gets the focus.
 *
 * @param title The title of the form's page.
 */
export function sentencesOf(shown: Invitation | undefined, token: string, title: string): HTMLElement[] {
  if (!shown) return []
  if (shown.state === 'invalid') {
    return token.length < tokenLength
      ? [sentence(incompleteSentence), sentence(openAgainSentence)]
      : [sentence(invalidSentence), sentence(byMailSentence)]
  }
  const answered = shown.answer ? [sentence(rsvpSentences[shown.answer]), ...retreatOf(shown, title)] : []
  // The passed deadline is not mentioned beside questions, because they have a last day of their own.
  if (shown.state === 'over') return shown.questions ? answered : [...answered, sentence(overSentence)]
  if (shown.answer) return answered
  return [
    sentence(
      'Hello',
      shown.first_name && ' ',
      element('bdi', shown.first_name),
      ', your place is kept until ',
      dayOf(shown.until),
    ),
  ]
}

/**
 * The retreat's days and venue, and the link to its file for a calendar. The page makes the file, because a request for it would
 * need the token in its address.
 */
function retreatOf({ retreat }: Invitation & { state: 'open' | 'over' }, title: string) {
  if (!retreat) return []
  const { venue } = retreat
  const link = element('a', calendarLabel)
  link.download = calendarFileName
  link.href = `data:text/calendar;charset=utf-8,${encodeURIComponent(calendarFileOf(retreat, title, new Date()))}`
  return [sentence(element('span', daysOf(retreat)), venue && ', ', element('bdi', venue)), sentence(link)]
}

/** The sentence with the reply address, for everything that the buttons and the questions cannot do. */
export function contactOf(shown: Invitation | undefined): HTMLElement[] {
  if (!shown || shown.state === 'invalid') return []
  const { state, address, questions } = shown
  if (questions?.is_open === false) return [contact(address)]
  if (state === 'over') return [contact(address, questions ? cannotComeIntro : '')]
  return [contact(address, questionsIntro)]
}

function contact(address: string | undefined, intro = '') {
  if (!address) return sentence(intro, byMailSentence)
  const link = element('a', address)
  link.href = `mailto:${address}`
  return sentence(intro, 'Please write to ', link, '.')
}
