/**
 * What the form does before, and without, the page's script. This stands in the document itself, right after
 * the form; React takes the form over as it finds it, and these listeners stay.
 */
import { keepDraft, forgetDraft, restoreDraft } from './draft.ts'
import { readPageData } from '../page-data.ts'
import type { ApplyData } from './apply-data.ts'
import { messageOf } from './submission.ts'
import { failureTitle, sendingAnnouncement, sendingLabel, sendLabel } from './copy.ts'

/** Milliseconds that a send waits for the page's script. */
const timeout = 10_000

const { outcome, takesNativePosts } = readPageData() as ApplyData
/** The page's script: its address stands on this one. */
const address = document.currentScript?.dataset['page'] ?? ''
let script: HTMLScriptElement | undefined

/** Asks for the page's script, unless that was done. */
function load() {
  if (script) return
  script = document.createElement('script')
  script.type = 'module'
  script.src = address
  script.addEventListener('error', () => {
    script = undefined
    if (window.heldSend) fallBack()
  })
  document.head.append(script)
}

/** React prevents the submit events that it takes care of; every other one is held here. */
function hold(event: Event) {
  if (event.defaultPrevented) return
  event.preventDefault()
  if (window.heldSend) return
  const timer = setTimeout(fallBack, timeout)
  window.heldSend = {
    claim() {
      clearTimeout(timer)
      window.heldSend = undefined
    },
  }
  document.querySelector('#outcome .outcome')?.remove()
  showSending(true)
  load()
}

/** What React renders for the same state, so that it finds what it expects. */
function showSending(sending: boolean) {
  const progress = document.getElementById('progress')
  if (progress) progress.textContent = sending ? sendingAnnouncement : ''
  const button = document.querySelector<HTMLButtonElement>('button[type=submit]')
  if (!button) return
  button.disabled = sending
  button.textContent = sending ? sendingLabel : sendLabel
}

/** The page's script failed: the browser sends the form by itself where somebody takes it. */
function fallBack() {
  window.heldSend?.claim()
  if (takesNativePosts) return document.forms[0]?.submit()
  showSending(false)
  const box = document.createElement('div')
  box.id = 'early-error'
  box.className = 'outcome error'
  const title = document.createElement('h2')
  title.textContent = failureTitle
  const message = document.createElement('p')
  message.textContent = messageOf(undefined)
  box.append(title, message)
  document.getElementById('outcome')?.append(box)
  box.scrollIntoView({ block: 'nearest' })
}

function isCustomSolution(target: EventTarget | null): target is HTMLInputElement {
  return target instanceof HTMLInputElement && target.name === 'custom_solution'
}

function chooseCustom(form: HTMLFormElement | null) {
  const choice = form?.elements.namedItem('paid_solution')
  if (choice instanceof RadioNodeList) choice.value = 'custom'
}

document.addEventListener('submit', hold)
document.addEventListener('input', ({ target }) => {
  if (isCustomSolution(target)) chooseCustom(target.form)
  if (document.forms[0]) keepDraft(document.forms[0])
})
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || !isCustomSolution(event.target)) return
  event.preventDefault()
  chooseCustom(event.target.form)
  if (event.target.form) keepDraft(event.target.form)
})

// Back from where the form was posted to: the browser may show the page as it was left. React's button is React's.
window.addEventListener('pageshow', ({ persisted }) => {
  if (persisted && !window.heldSend && !window.isHydrated) showSending(false)
})

if (outcome?.status === 'success') forgetDraft()
else if (document.forms[0]) restoreDraft(document.forms[0])

// After the first paint, which the script's download would otherwise delay; a page in the background, or a
// browser that does not tell of its paint, need not wait for it.
new PerformanceObserver(load).observe({ type: 'paint', buffered: true })
setTimeout(load, 2_000)
