/**
 * The whole script of the page, inline in the document. Opening the page only reads: email scanners open links and run scripts.
 * Only a button sends an RSVP.
 */
import type { Answer } from '../../application/statuses.ts'
import { newAct } from '../../client/act.ts'
import { answerPlace, readPlace, type Place } from '../../client/place.ts'
import { RefusedCall } from '../../client/rest.ts'
import { readPageData } from '../page-data.ts'
import { siteRoot } from '../site-root.ts'
import type { AnswerData } from './answer-data.ts'
import {
  againLabel,
  answerLabels,
  answerSentences,
  byMailSentence,
  changeLabel,
  cutSentence,
  invalidSentence,
  keepLabel,
  overSentence,
  reading,
  sending,
  wholeLinkSentence,
} from './copy.ts'

/** Characters of the token in a complete link. */
const tokenLength = 36
/** Timeout of a call with all its retries, in milliseconds. */
const timeout = 20_000

const { url, anonKey } = (readPageData() as AnswerData).backend
const backend = { url: url ?? siteRoot(), anonKey }
const page = document.getElementById('place') as HTMLElement

let token = ''
let place: Place | undefined
/** The last call; only its response is shown. */
let latest: AbortController | undefined
/** Whether a call started by a button is pending. */
let isPressed = false
/** The kind of call that failed, while its problem is shown. */
let failed: typeof reading | undefined

function begin() {
  latest?.abort()
  latest = place = failed = undefined
  isPressed = false
  token = location.hash.slice(1)
  if (token) {
    page.replaceChildren(sentence(reading.label))
    page.setAttribute('aria-busy', 'true')
    read()
  } else {
    place = { state: 'invalid' }
    show(undefined, fill)
  }
}

/** Reads again: the RSVP may have changed elsewhere. */
function look() {
  if (token && !isPressed && !document.hidden) read()
}

function read() {
  const own = token
  void ask(reading, (signal) => readPlace(backend, own, signal))
}

function send(answer: Answer, pressed: HTMLButtonElement) {
  const own = token
  const act = newAct()
  void ask(sending, (signal) => answerPlace(backend, own, answer, act, signal), pressed)
}

/**
 * Calls the backend and shows the response, or the failure.
 *
 * @param pressed The button that started the call; undefined for a refresh.
 */
async function ask(
  what: typeof reading,
  call: (signal: AbortSignal) => Promise<Place>,
  pressed?: HTMLButtonElement,
) {
  if (pressed) {
    isPressed = true
    for (const each of page.querySelectorAll('button')) each.disabled = true
    pressed.textContent = what.label
    pressed.classList.add('pressed')
  }
  latest?.abort()
  const own = (latest = new AbortController())
  const timer = setTimeout(() => own.abort(), timeout)
  try {
    const now = await call(own.signal)
    if (own !== latest) return
    const isOther = JSON.stringify(now) !== JSON.stringify(place)
    place = now
    // A background refresh must not close opened buttons or an unrelated problem.
    if (pressed || isOther || failed === reading) show(pressed, fill)
  } catch (error) {
    if (own !== latest) return
    show(pressed, () => {
      // Enables the buttons again.
      if (pressed || !place) fill()
      failed = what
      page.querySelector('.error')?.remove()
      // Guests can do nothing about any other refusal.
      const isForGuests = error instanceof RefusedCall && [409, 429].includes(error.status)
      const message = sentence(isForGuests ? error.message : what.failure)
      const again = button(againLabel, 'second', () => void ask(what, call, again))
      const box = element('div', message, again)
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
 * read it, so it is not announced too.
 */
function show(pressed: HTMLElement | undefined, change: () => HTMLElement | undefined) {
  const isTaken = pressed ?? page.contains(document.activeElement)
  page.setAttribute('aria-live', isTaken ? 'off' : 'polite')
  page.setAttribute('aria-busy', 'false')
  isPressed = false
  const came = change()
  if (isTaken) came?.focus()
}

/** Shows the invitation as it was last read. */
function fill() {
  failed = undefined
  // The style lets the sun set by this attribute.
  page.dataset['answer'] = place?.answer ?? ''
  const sentences = sentencesOf(place)
  page.replaceChildren(...sentences, ...actionsOf(place))
  return sentences[0]
}

function sentencesOf(now: Place | undefined) {
  if (!now) return []
  if (now.state === 'invalid') {
    return token.length < tokenLength
      ? [sentence(cutSentence), sentence(wholeLinkSentence)]
      : [sentence(invalidSentence), sentence(byMailSentence)]
  }
  const answered = now.answer ? [sentence(answerSentences[now.answer])] : []
  if (now.state === 'over') return [...answered, sentence(overSentence), contact(now.address)]
  if (now.answer) return answered
  // The deadline is the same day in every time zone.
  const day = new Date(now.until).toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' })
  const until = element('span', day, '.')
  return [sentence('Hello ', element('bdi', now.first_name), ', your place is kept until ', until)]
}

/** The buttons for an open invitation, and the contact. */
function actionsOf(now: Place | undefined) {
  if (now?.state !== 'open') return []
  const buttons = now.answer
    ? [changeButton(now.answer)]
    : [answerButton('coming', ''), answerButton('not coming', 'second')]
  return [...buttons, contact(now.address, 'Questions? ')]
}

function changeButton(answer: Answer) {
  const change = button(changeLabel, 'second', () => {
    // Coming is the filled button, whether it is the answer or the change.
    const [other, keepClass] =
      answer === 'coming'
        ? [answerButton('not coming', 'second'), '']
        : [answerButton('coming', ''), 'second']
    const keep = button(keepLabel, keepClass, () => show(keep, fill))
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

function answerButton(answer: Answer, className: string) {
  const made = button(answerLabels[answer], className, () => send(answer, made))
  return made
}

function button(label: string, className: string, press: () => void) {
  const made = element('button', label)
  made.type = 'button'
  made.className = className
  made.addEventListener('click', press)
  return made
}

function sentence(...content: (Node | string)[]) {
  const made = element('p', ...content)
  made.tabIndex = -1
  return made
}

function element<Tag extends keyof HTMLElementTagNameMap>(tag: Tag, ...content: (Node | string)[]) {
  const made = document.createElement(tag)
  made.append(...content)
  return made
}

begin()
addEventListener('hashchange', begin)
addEventListener('pageshow', ({ persisted }) => persisted && begin())
for (const event of ['focus', 'online']) addEventListener(event, look)
document.addEventListener('visibilitychange', look)
