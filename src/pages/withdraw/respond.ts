/**
 * The whole script of the page, inline in the document. Opening the page only reads the application, because email scanners open
 * links and run scripts. Only the second press of a button withdraws it.
 */
import { daysOf } from '../../application/calendar.ts'
import { newActId } from '../../client/act.ts'
import { RefusedCall } from '../../client/rest.ts'
import { readWithdrawal, sendWithdrawal, type Withdrawal } from '../../client/withdrawal.ts'
import { button, element, sentence } from '../answer/elements.ts'
import { mendAddress, tokenIn } from '../mended-link.ts'
import { readPageData } from '../page-data.ts'
import { siteRoot } from '../site-root.ts'
import {
  aboutApplication,
  againLabel,
  byMailSentence,
  confirmLabel,
  invalidSentence,
  keepLabel,
  questionSentence,
  reading,
  restoreLabel,
  sending,
  untilDecidedSentence,
  withdrawLabel,
} from './copy.ts'
import type { WithdrawData } from './withdraw-data.ts'

/** Timeout of a call with all its retries, in milliseconds. */
const timeout = 20_000

mendAddress()

const {
  backend: { url, anonKey },
} = readPageData() as WithdrawData
const backend = { url: url ?? siteRoot(), anonKey }
const container = document.getElementById('place') as HTMLElement

let token = ''
/** The controller of the last call. Only the response of that call is shown. */
let latest: AbortController | undefined

function start() {
  token = tokenIn(location.hash)
  show([sentence(reading.label)])
  void callBackend(reading, (signal) => readWithdrawal(backend, token, signal))
}

/** Withdraws the application, or restores it. Trying again is the same act, since only the response may have been lost. */
function send(isWithdrawn: boolean, pressed: HTMLButtonElement) {
  const act = newActId()
  void callBackend(sending, (signal) => sendWithdrawal(backend, token, isWithdrawn, act, signal), pressed)
}

/**
 * Calls the backend and shows the response, or the failure.
 *
 * @param pressed The button that started the call; undefined if the page itself reads the application.
 */
async function callBackend(
  words: typeof reading,
  call: (signal: AbortSignal) => Promise<Withdrawal>,
  pressed?: HTMLButtonElement,
) {
  if (pressed) {
    for (const each of container.querySelectorAll('button')) each.disabled = true
    pressed.textContent = words.label
    pressed.classList.add('pressed')
  }
  latest?.abort()
  const controller = (latest = new AbortController())
  const timer = setTimeout(() => controller.abort(), timeout)
  try {
    const withdrawal = await call(controller.signal)
    if (controller === latest) show(contentOf(withdrawal), pressed)
  } catch (error) {
    if (controller !== latest) return
    const isForApplicants = error instanceof RefusedCall && error.status === 429
    const message = sentence(isForApplicants ? error.message : words.failure)
    const retry = button(againLabel, 'second', () => void callBackend(words, call, retry))
    show([element('div', { className: 'outcome error' }, message, retry)], pressed, message)
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Replaces the content. If a button was pressed, the new text gets the focus. Screen readers then read it, so the live region does
 * not announce it.
 */
function show(content: HTMLElement[], pressed?: HTMLElement, news = content[0]) {
  container.ariaLive = pressed ? 'off' : 'polite'
  container.replaceChildren(...content)
  if (pressed) news?.focus()
}

function contentOf(withdrawal: Withdrawal): HTMLElement[] {
  if (withdrawal.state === 'invalid') return [sentence(invalidSentence)]
  const { state, first_name: name, applied_on: day } = withdrawal
  const greeting = name === null ? ['Hello'] : ['Hello ', element('bdi', {}, name)]
  const about = sentence(...greeting, aboutApplication[state](daysOf({ starts_on: day, ends_on: day })))
  if (state === 'decided') return [about, sentence(byMailSentence)]
  if (state === 'withdrawn') {
    const restore = button(restoreLabel, 'second', () => send(false, restore))
    return [about, sentence(untilDecidedSentence), restore]
  }
  const withdraw = button(withdrawLabel, 'second', () => {
    const confirm = button(confirmLabel, '', () => send(true, confirm))
    const keep = button(keepLabel, 'quiet', () => show(contentOf(withdrawal), keep))
    // On iPhones, which count no taps, the second one of a double tap only keeps the application.
    show([sentence(questionSentence), keep, confirm], withdraw)
  })
  return [about, withdraw]
}

start()
addEventListener('hashchange', start)
addEventListener('pageshow', ({ persisted }) => persisted && start())
