/**
 * The whole script of the page, which stands in the document. Opening the page only reads, since programs that look through
 * mails open links and run scripts: only a button sends an answer.
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

/** Letters of the token in a whole link. */
const tokenLength = 36
/** Milliseconds after which an answer is given up, all its tries together. */
const timeout = 20_000

const { url, anonKey } = (readPageData() as AnswerData).backend
const backend = { url: url ?? siteRoot(), anonKey }
const page = document.getElementById('place') as HTMLElement

let token = ''
let place: Place | undefined
/** The last call, whose answer alone is shown. */
let latest: AbortController | undefined
/** Whether a call that a button began is under way. */
let isPressed = false
/** What the problem that is shown is about. */
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

/** It may have changed elsewhere. */
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

/** Asks the backend, and shows what it says, or that it said nothing. */
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
    // A reading that nobody asked for does not replace what somebody has opened, or a problem that it does not solve.
    if (pressed || isOther || failed === reading) show(pressed, fill)
  } catch (error) {
    if (own !== latest) return
    show(pressed, () => {
      // Its buttons are in use again.
      if (pressed || !place) fill()
      failed = what
      page.querySelector('.error')?.remove()
      // A guest can do nothing about any other refusal.
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
 * Changes what is shown. The focus moves to the new text where somebody pressed a button, or where the old text had the
 * focus. A screen reader then reads it out, so it is not announced besides.
 */
function show(pressed: HTMLElement | undefined, change: () => HTMLElement | undefined) {
  const isTaken = pressed ?? page.contains(document.activeElement)
  page.setAttribute('aria-live', isTaken ? 'off' : 'polite')
  page.setAttribute('aria-busy', 'false')
  isPressed = false
  const came = change()
  if (isTaken) came?.focus()
}

/** Shows the place as it was read last, and nothing else. */
function fill() {
  failed = undefined
  // By it the sun sets when all is done.
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
  // A day is the same wherever it is read.
  const day = new Date(now.until).toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' })
  const until = element('span', day, '.')
  return [sentence('Hello ', element('bdi', now.first_name), ', your place is kept until ', until)]
}

/** What can be done where the place is open, and whom to ask. */
function actionsOf(now: Place | undefined) {
  if (now?.state !== 'open') return []
  const buttons = now.answer
    ? [changeButton(now.answer)]
    : [answerButton('coming', ''), answerButton('not coming', 'second')]
  return [...buttons, contact(now.address, 'Questions? ')]
}

function changeButton(answer: Answer) {
  const change = button(changeLabel, 'second', () => {
    const other = answerButton(answer === 'coming' ? 'not coming' : 'coming', '')
    const keep = button(keepLabel, 'second', () => show(keep, fill))
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
