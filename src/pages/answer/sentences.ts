import {
  calendarFileName,
  calendarFileOf,
  daysOf,
  webCalendarsOf,
  type Retreat,
} from '../../application/calendar.ts'
import type { Invitation } from '../../client/invitation.ts'
import { siteRoot } from '../site-root.ts'
import {
  byMailSentence,
  calendarLabel,
  cannotComeIntro,
  comingIntro,
  googleLabel,
  incompleteSentence,
  invalidSentence,
  notComingSentence,
  openAgainSentence,
  outlookLabel,
  overSentence,
  questionsIntro,
  titleIntro,
  webCalendarsIntro,
} from './copy.ts'
import { dayOf, element, sentence } from './elements.ts'

type GivenRetreat = Retreat | null | undefined

/** Characters of the token in a complete link. */
const tokenLength = 36

/**
 * The sentences about an invitation.
 *
 * @param title The title of the form's page.
 */
export function sentencesOf(shown: Invitation, token: string, title: string): HTMLElement[] {
  if (shown.state === 'invalid') {
    return token.length < tokenLength
      ? [sentence(incompleteSentence), sentence(openAgainSentence)]
      : [sentence(invalidSentence), sentence(byMailSentence)]
  }
  const { state, answer, first_name: firstName, until, retreat, questions } = shown
  // The passed deadline is not mentioned beside questions, because they have a last day of their own.
  const deadline = state === 'over' && !questions ? [sentence(overSentence)] : []
  const venue = retreat?.venue ? [sentence(element('bdi', {}, retreat.venue))] : []
  if (answer === 'coming') return [...venue, ...calendarsOf(retreat, title), ...deadline]
  if (answer) return [sentence(notComingSentence), ...deadline]
  if (state === 'over') return deadline
  return [
    ...venue,
    sentence(
      'Hello',
      firstName && ' ',
      element('bdi', {}, firstName),
      ', your place is kept until ',
      dayOf(until),
    ),
  ]
}

/**
 * The content of the heading: the retreat's name, and its days.
 *
 * @param title The title of the form's page, which names a retreat without a name.
 */
export function headingOf({ answer, retreat }: Invitation, title: string): (Node | string)[] {
  return [
    answer === 'coming' ? comingIntro : titleIntro,
    element('bdi', {}, retreat?.name || title),
    ...(retreat ? [' ', element('span', {}, daysOf(retreat))] : []),
  ]
}

/**
 * The ways to add the retreat to a calendar. The page makes the file, because a request for it would need the token in its
 * address.
 */
function calendarsOf(retreat: GivenRetreat, title: string) {
  if (!retreat) return []
  const file = encodeURIComponent(calendarFileOf(retreat, title, siteRoot(), new Date()))
  const href = `data:text/calendar;charset=utf-8,${file}`
  const { google, outlook } = webCalendarsOf(retreat, title)
  return [
    element('a', { href, download: calendarFileName }, calendarLabel),
    sentence(webCalendarsIntro, webLink(googleLabel, google), ' or ', webLink(outlookLabel, outlook), '.'),
  ]
}

/** A link to another site in a new tab. That site learns nothing about this page: `noreferrer` implies `noopener`. */
function webLink(label: string, href: string) {
  return element('a', { href, target: '_blank', rel: 'noreferrer' }, label)
}

/** The sentence with the reply address, for everything that the buttons and the questions cannot do. */
export function contactOf(shown: Invitation): HTMLElement[] {
  if (shown.state === 'invalid') return []
  const { state, address, questions } = shown
  const overIntro = questions ? cannotComeIntro : ''
  const openIntro = state === 'over' ? overIntro : questionsIntro
  const intro = questions?.is_open === false ? '' : openIntro
  if (!address) return [sentence(intro, byMailSentence)]
  const link = element('a', { href: `mailto:${address}` }, address)
  return [sentence(intro, 'Please write to ', link, '.')]
}
