/**
 * The whole script of the page, inline in the document. Opening the page only reads the invitation, because email scanners
 * open links and run scripts. Only a button sends an RSVP or answers.
 */
import type { Answers } from '../../application/questions.ts'
import type { Rsvp } from '../../application/statuses.ts'
import { newActId } from '../../client/act.ts'
import { sendAnswers, sendRsvp, readInvitation, type Invitation } from '../../client/invitation.ts'
import { RefusedCall } from '../../client/rest.ts'
import { mendAddress, tokenIn } from '../mended-link.ts'
import { readPageData } from '../page-data.ts'
import { siteRoot } from '../site-root.ts'
import type { AnswerData } from './answer-data.ts'
import {
  againLabel,
  rsvpLabels,
  changedSentence,
  changeLabel,
  closedSentence,
  keepLabel,
  reading,
  savedSentence,
  sending,
  sendingAnswers,
} from './copy.ts'
import { button, element, sentence } from './elements.ts'
import { renderQuestions } from './questions.ts'
import { contactOf, headingOf, sentencesOf } from './sentences.ts'
import { answersTo, readUnsent, storeUnsent } from './unsent.ts'

/** Timeout of a call with all its retries, in milliseconds. */
const timeout = 20_000

mendAddress()

const {
  backend: { url, anonKey },
  title,
} = readPageData() as AnswerData
const backend = { url: url ?? siteRoot(), anonKey }
const heading = document.querySelector('h1') as HTMLElement
const container = document.getElementById('place') as HTMLElement

let token = ''
let invitation: Invitation | undefined
/** The controller of the last call. Only the response of that call is shown. */
let latest: AbortController | undefined
/** The words of the call that failed, while its problem is shown. */
let failed: typeof reading | undefined
/** Answers that were typed and not sent. */
let unsent: Answers = {}
/** The answers in the last call that sent some, as JSON, and the id of its act. Undefined once they are saved. */
let lastSent: { text: string; act: string } | undefined

function start() {
  latest?.abort()
  latest = invitation = failed = undefined
  const former = token
  token = tokenIn(location.hash)
  if (token !== former) {
    unsent = readUnsent(token)
    lastSent = undefined
  }
  if (token) {
    container.replaceChildren(sentence(reading.label))
    container.ariaBusy = 'true'
    read()
  } else {
    invitation = { state: 'invalid' }
    show(undefined, showInvitation)
  }
}

/** Reads the invitation again, unless a call that a button started is pending: the RSVP may have changed elsewhere. */
function refresh() {
  if (token && !document.hidden && !container.querySelector('.pressed')) read()
}

function read() {
  void callBackend(reading, (signal) => readInvitation(backend, token, signal))
}

function send(rsvp: Rsvp, pressed: HTMLButtonElement) {
  const act = newActId()
  void callBackend(sending, (signal) => sendRsvp(backend, token, rsvp, act, signal), pressed)
}

/** Sends the answers that were typed. */
function submitAnswers(pressed: HTMLButtonElement) {
  const ownToken = token
  const answers = answersTo(invitation?.questions, unsent)
  const text = JSON.stringify(answers)
  // Sending the same answers again is the same act, because the first request may have arrived and only its response was lost.
  const { act } = (lastSent = lastSent?.text === text ? lastSent : { text, act: newActId() })
  const call = async (signal: AbortSignal) => {
    const response = await sendAnswers(backend, ownToken, answers, act, signal).catch(
      async (error: unknown) => {
        if (!(error instanceof RefusedCall) || ![400, 409].includes(error.status)) throw error
        // Reading changed questions here keeps what was typed. Reloading the page would lose private answers.
        const changed = await readInvitation(backend, ownToken, signal)
        if (!changed.questions?.is_open || !isNew(changed.questions, invitation?.questions)) throw error
        invitation = changed
        throw new RefusedCall(changedSentence, '', 409)
      },
    )
    if (response.questions?.is_open === false) throw new RefusedCall(closedSentence, '', 409)
    lastSent = undefined
    for (const id of Object.keys(answers)) delete unsent[id]
    if (invitation?.questions) storeUnsent(ownToken, unsent, invitation.questions)
    return response
  }
  void callBackend(sendingAnswers, call, pressed)
}

/** Whether the guest is answering questions, so that rendering a refresh would interrupt them. */
function isEditing() {
  if (!container.querySelector('form')) return false
  const hasUnsent = Object.keys(answersTo(invitation?.questions, unsent)).length > 0
  return hasUnsent || document.activeElement?.matches('input, textarea')
}

/**
 * Calls the backend and shows the response, or the failure.
 *
 * @param pressed The button that started the call; undefined if the page itself reads the invitation.
 */
async function callBackend(
  words: typeof reading,
  call: (signal: AbortSignal) => Promise<Invitation>,
  pressed?: HTMLButtonElement,
) {
  if (pressed) {
    for (const each of container.querySelectorAll<HTMLButtonElement>('button, input, textarea'))
      each.disabled = true
    pressed.textContent = words.label
    pressed.classList.add('pressed')
  }
  latest?.abort()
  const controller = (latest = new AbortController())
  const timer = setTimeout(() => controller.abort(), timeout)
  try {
    const response = await call(controller.signal)
    if (controller !== latest) return
    if (!pressed && isEditing()) {
      // Only the problem of an earlier refresh is over. The questions stay as they are.
      if (failed === reading) container.querySelector('.error')?.remove()
      return
    }
    // A background refresh that fails or reads nothing new must not remove the buttons that the guest opened, or another call's
    // error.
    const isShown = pressed || failed === reading || isNew(response, invitation)
    invitation = response
    if (isShown) show(pressed, words === sendingAnswers ? showSaved : showInvitation)
  } catch (error) {
    if (controller !== latest || (!pressed && (isEditing() || (failed && failed !== reading)))) return
    show(pressed, () => {
      // Rendering again enables the buttons.
      if (!invitation) container.replaceChildren()
      else if (pressed) showInvitation()
      else container.querySelector('.error')?.remove()
      failed = words
      // Guests can do nothing about refusals with other statuses, so their messages are not shown.
      const form = words === sendingAnswers && container.querySelector('form')
      const statuses = form ? [400, 409, 429] : [409, 429]
      const isForGuests = error instanceof RefusedCall && statuses.includes(error.status)
      const message = sentence(isForGuests ? error.message : words.failure)
      const retry = button(againLabel, 'second', () => {
        if (!form) void callBackend(words, call, retry)
      })
      // A retry submits the answers that the form has by then.
      if (form) retry.type = 'submit'
      ;(form || container).append(outcome('error', message, retry))
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
  const takesFocus = pressed ?? container.contains(document.activeElement)
  container.ariaLive = takesFocus ? 'off' : 'polite'
  container.ariaBusy = 'false'
  const newText = change()
  if (takesFocus) newText?.focus()
}

function isNew(received: unknown, shown: unknown) {
  return JSON.stringify(received) !== JSON.stringify(shown)
}

/** The box with the outcome of a call. */
function outcome(kind: 'success' | 'error', ...content: HTMLElement[]) {
  return element('div', { className: `outcome ${kind}` }, ...content)
}

/** Shows that answers are saved, if the guest still has questions. */
function showSaved() {
  const first = showInvitation()
  const form = container.querySelector('form')
  if (!form) return first
  const saved = sentence(savedSentence)
  form.append(outcome('success', saved))
  return saved
}

/** Shows the invitation as it was last read. Returns what gets the focus: the heading if it has the news. */
function showInvitation() {
  failed = undefined
  const shown = invitation as Invitation
  // The style uses this attribute to let the sun set.
  container.dataset['answer'] = shown.answer ?? ''
  heading.replaceChildren(...headingOf(shown, title))
  const sentences = sentencesOf(shown, token, title)
  container.replaceChildren(...sentences, ...buttonsOf(shown), ...questionsOf(shown), ...contactOf(shown))
  return shown.retreat || shown.answer === 'coming' ? heading : sentences[0]
}

/** The buttons for an open invitation. */
function buttonsOf(shown: Invitation) {
  if (shown.state !== 'open') return []
  return shown.answer ? [changeButton(shown.answer)] : [rsvpButton('coming'), rsvpButton('not coming')]
}

function questionsOf({ questions }: Invitation) {
  if (!questions) return []
  return renderQuestions(questions, unsent, {
    remember({ id }, typed) {
      if (typed === undefined) delete unsent[id]
      else unsent[id] = typed
      storeUnsent(token, unsent, questions)
    },
    redraw({ id }, pressed) {
      show(pressed, () => {
        showInvitation()
        return document.getElementsByName(id)[0]
      })
    },
    send: submitAnswers,
  })
}

function changeButton(rsvp: Rsvp) {
  const change = button(changeLabel, 'quiet', () => {
    const keep = button(keepLabel, 'quiet', () => show(keep, showInvitation))
    // Enter that is held only keeps the RSVP.
    change.replaceWith(keep, rsvpButton(rsvp === 'coming' ? 'not coming' : 'coming'))
    keep.focus()
  })
  return change
}

/** The button for an RSVP. Only the one to "coming" is filled. */
function rsvpButton(rsvp: Rsvp) {
  const created = button(rsvpLabels[rsvp], rsvp === 'coming' ? '' : 'second', () => send(rsvp, created))
  return created
}

start()
addEventListener('hashchange', start)
addEventListener('pageshow', ({ persisted }) => persisted && start())
for (const event of ['focus', 'online']) addEventListener(event, refresh)
document.addEventListener('visibilitychange', refresh)
