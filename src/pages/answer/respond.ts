/**
 * The whole script of the page, inline in the document. Opening the page only reads the invitation, because email scanners
 * open links and run scripts. Only a button sends an RSVP.
 */
import { calendarFileName, calendarFileOf, daysOf } from '../../application/calendar.ts'
import type { Rsvp } from '../../application/statuses.ts'
import { newAct } from '../../client/act.ts'
import { sendRsvp, readInvitation, type Invitation } from '../../client/invitation.ts'
import { RefusedCall } from '../../client/rest.ts'
import { readPageData } from '../page-data.ts'
import { siteRoot } from '../site-root.ts'
import type { AnswerData } from './answer-data.ts'
import {
  againLabel,
  rsvpLabels,
  rsvpSentences,
  byMailSentence,
  calendarLabel,
  changeLabel,
  incompleteSentence,
  invalidSentence,
  keepLabel,
  overSentence,
  reading,
  sending,
  openAgainSentence,
} from './copy.ts'

/** Characters of the token in a complete link. */
const tokenLength = 36
/** Timeout of a call with all its retries, in milliseconds. */
const timeout = 20_000

const { url, anonKey } = (readPageData() as AnswerData).backend
const backend = { url: url ?? siteRoot(), anonKey }
const page = document.getElementById('place') as HTMLElement

let token = ''
let invitation: Invitation | undefined
/** The last call; only its response is shown. */
let latest: AbortController | undefined
/** Whether a call started by a button is pending. */
let isPressed = false
/** The words of the call that failed, while its problem is shown. */
let failed: typeof reading | undefined

function start() {
  latest?.abort()
  latest = invitation = failed = undefined
  isPressed = false
  token = location.hash.slice(1)
  if (token) {
    page.replaceChildren(sentence(reading.label))
    page.setAttribute('aria-busy', 'true')
    read()
  } else {
    invitation = { state: 'invalid' }
    show(undefined, showInvitation)
  }
}

/** Reads the invitation again: the RSVP may have changed elsewhere. */
function refresh() {
  if (token && !isPressed && !document.hidden) read()
}

function read() {
  const ownToken = token
  void callBackend(reading, (signal) => readInvitation(backend, ownToken, signal))
}

function send(rsvp: Rsvp, pressed: HTMLButtonElement) {
  const ownToken = token
  const act = newAct()
  void callBackend(sending, (signal) => sendRsvp(backend, ownToken, rsvp, act, signal), pressed)
}

/**
 * Calls the backend and shows the response, or the failure.
 *
 * @param pressed The button that started the call; undefined for a refresh.
 */
async function callBackend(
  words: typeof reading,
  call: (signal: AbortSignal) => Promise<Invitation>,
  pressed?: HTMLButtonElement,
) {
  if (pressed) {
    isPressed = true
    for (const each of page.querySelectorAll('button')) each.disabled = true
    pressed.textContent = words.label
    pressed.classList.add('pressed')
  }
  latest?.abort()
  const controller = (latest = new AbortController())
  const timer = setTimeout(() => controller.abort(), timeout)
  try {
    const response = await call(controller.signal)
    if (controller !== latest) return
    const isNew = JSON.stringify(response) !== JSON.stringify(invitation)
    invitation = response
    // A background refresh that reads nothing new must not close opened buttons or the problem of another call.
    if (pressed || isNew || failed === reading) show(pressed, showInvitation)
  } catch (error) {
    if (controller !== latest) return
    show(pressed, () => {
      // Enables the buttons again.
      if (pressed || !invitation) showInvitation()
      failed = words
      page.querySelector('.error')?.remove()
      // Guests can do nothing about any other refusal, so its message is not shown.
      const isForGuests = error instanceof RefusedCall && [409, 429].includes(error.status)
      const message = sentence(isForGuests ? error.message : words.failure)
      const retry = button(againLabel, 'second', () => void callBackend(words, call, retry))
      const box = element('div', message, retry)
      box.className = 'outcome error'
      page.append(box)
      return message
    })
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Changes the content. The focus moves to the new text if a button was pressed or the old text had the focus. Screen readers then
 * read the new text, so the live region does not announce it.
 */
function show(pressed: HTMLElement | undefined, change: () => HTMLElement | undefined) {
  const takesFocus = pressed ?? page.contains(document.activeElement)
  page.setAttribute('aria-live', takesFocus ? 'off' : 'polite')
  page.setAttribute('aria-busy', 'false')
  isPressed = false
  const newText = change()
  if (takesFocus) newText?.focus()
}

/** Shows the invitation as it was last read. */
function showInvitation() {
  failed = undefined
  // The style uses this attribute to let the sun set.
  page.dataset['answer'] = invitation?.answer ?? ''
  const sentences = sentencesOf(invitation)
  page.replaceChildren(...sentences, ...actionsOf(invitation))
  return sentences[0]
}

function sentencesOf(shown: Invitation | undefined) {
  if (!shown) return []
  if (shown.state === 'invalid') {
    return token.length < tokenLength
      ? [sentence(incompleteSentence), sentence(openAgainSentence)]
      : [sentence(invalidSentence), sentence(byMailSentence)]
  }
  const answered = shown.answer ? [sentence(rsvpSentences[shown.answer]), ...retreatOf(shown)] : []
  if (shown.state === 'over') return [...answered, sentence(overSentence), contact(shown.address)]
  if (shown.answer) return answered
  // The deadline is the same day in every time zone.
  const day = new Date(shown.until).toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' })
  const until = element('span', day, '.')
  return [sentence('Hello ', element('bdi', shown.first_name), ', your place is kept until ', until)]
}

/**
 * When and where the retreat is, and the link to its file for a calendar. The page makes the file, because a request for it would
 * have the token in its address.
 */
function retreatOf({ retreat }: Invitation & { state: 'open' | 'over' }) {
  if (!retreat) return []
  const { venue } = retreat
  const link = element('a', calendarLabel)
  link.download = calendarFileName
  link.href = `data:text/calendar;charset=utf-8,${encodeURIComponent(calendarFileOf(retreat, new Date()))}`
  return [sentence(element('span', daysOf(retreat)), venue && ', ', element('bdi', venue)), sentence(link)]
}

/** The buttons for an open invitation, and the contact. */
function actionsOf(shown: Invitation | undefined) {
  if (shown?.state !== 'open') return []
  const buttons = shown.answer
    ? [changeButton(shown.answer)]
    : [rsvpButton('coming', ''), rsvpButton('not coming', 'second')]
  return [...buttons, contact(shown.address, 'Questions? ')]
}

function changeButton(rsvp: Rsvp) {
  const change = button(changeLabel, 'second', () => {
    // The button for "coming" is always filled: to keep that RSVP, or to change to it.
    const [other, keepClass] =
      rsvp === 'coming' ? [rsvpButton('not coming', 'second'), ''] : [rsvpButton('coming', ''), 'second']
    const keep = button(keepLabel, keepClass, () => show(keep, showInvitation))
    change.replaceWith(other, keep)
    other.focus()
  })
  return change
}

function contact(address: string | undefined, intro = '') {
  if (!address) return sentence(intro, byMailSentence)
  const link = element('a', address)
  link.href = `mailto:${address}`
  return sentence(intro, 'Please write to ', link, '.')
}

function rsvpButton(rsvp: Rsvp, className: string) {
  const created = button(rsvpLabels[rsvp], className, () => send(rsvp, created))
  return created
}

function button(label: string, className: string, press: () => void) {
  const created = element('button', label)
  created.type = 'button'
  created.className = className
  created.addEventListener('click', press)
  return created
}

function sentence(...content: (Node | string)[]) {
  const created = element('p', ...content)
  created.tabIndex = -1
  return created
}

function element<Tag extends keyof HTMLElementTagNameMap>(tag: Tag, ...content: (Node | string)[]) {
  const created = document.createElement(tag)
  created.append(...content)
  return created
}

start()
addEventListener('hashchange', start)
addEventListener('pageshow', ({ persisted }) => persisted && start())
for (const event of ['focus', 'online']) addEventListener(event, refresh)
document.addEventListener('visibilitychange', refresh)
