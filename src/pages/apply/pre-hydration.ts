/**
 * What the form does before the page's script has come, and without it. This script stands in the document, right after
 * the form. React takes the form over as it finds it, and these listeners stay.
 */
import { keepDraft, keepSent, restoreDraft } from './draft.ts'
import { readPageData } from '../page-data.ts'
import type { ApplyData } from './apply-data.ts'
import { failureTitle, fallbackText, sendingAnnouncement, sendingLabel, sendLabel } from './copy.ts'

/** Milliseconds that a send waits for the page's script. */
const timeout = 10_000

const { outcome, takesNativePosts } = readPageData() as ApplyData
/** The page's script. Its address is an attribute of this inline script. */
const address = document.currentScript?.dataset['page'] ?? ''
let script: HTMLScriptElement | undefined
let tries = 0
/** Firefox ends the script's download with an error when the page is left. */
let isLeaving = false

/** Loads the page's script, once. */
function load() {
  if (script) return
  script = document.createElement('script')
  script.type = 'module'
  // Browsers remember that the module of an address failed, so the address has to be another one.
  script.src = tries ? `${address}#${tries}` : address
  tries += 1
  script.addEventListener('error', () => {
    script = undefined
    if (window.heldSend && !isLeaving) fallBack()
  })
  document.head.append(script)
}

/** Holds every submit event that React does not handle. React prevents those that it handles. */
function hold(event: Event) {
  if (event.defaultPrevented) return
  event.preventDefault()
  if (window.heldSend) return
  const timer = setTimeout(fallBack, timeout)
  window.heldSend = {
    claim() {
      clearTimeout(timer)
      window.removeEventListener('beforeunload', leave)
      window.heldSend = undefined
    },
  }
  // Only as long as it is needed, since it may keep the browser from restoring the page.
  window.addEventListener('beforeunload', leave)
  document.querySelector('.success, .error')?.remove()
  showSending(true)
  load()
}

function leave() {
  isLeaving = true
}

/** Shows the same as React does for this state, so that hydration finds what it expects. */
function showSending(sending: boolean) {
  const button = document.querySelector<HTMLButtonElement>('button[type=submit]')
  if (sending) {
    // Enter in a field sends, too, and the browser keeps that field in sight for as long as it has the focus.
    document.querySelector<HTMLElement>('#fields :focus')?.blur()
    button?.scrollIntoView({ block: 'nearest' })
  }
  const progress = document.getElementById('progress')
  if (progress) progress.textContent = sending ? sendingAnnouncement : ''
  document.getElementById('fields')?.toggleAttribute('inert', sending)
  if (!button) return
  button.disabled = sending
  button.textContent = sending ? sendingLabel : sendLabel
}

/** The page's script failed: the browser posts the form by itself, where the page's server accepts that. */
function fallBack() {
  window.heldSend?.claim()
  if (takesNativePosts) {
    window.isPosting = true
    return document.forms[0]?.submit()
  }
  showSending(false)
  const box = document.createElement('div')
  box.id = 'early-error'
  box.className = 'outcome error'
  box.role = 'alert'
  box.innerHTML = `<h2>${failureTitle}</h2><p>${fallbackText}</p>`
  document.getElementById('outcome')?.append(box)
  box.scrollIntoView({ block: 'nearest' })
}

/** The field of the form that an event is about. */
function fieldOf({ target }: Event) {
  return target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement ? target : undefined
}

/** Keeps what was typed. In the custom box it chooses the custom option, too. */
function keep(event: Event) {
  const field = fieldOf(event)
  restore()
  if (field?.name === 'custom_solution') {
    const choice = document.querySelector<HTMLInputElement>('[value=custom]')
    if (choice) choice.checked = true
  }
  if (field?.form) keepDraft(field.form)
}

const [form] = document.forms

document.addEventListener('submit', hold)
document.addEventListener('input', keep)
document.addEventListener(
  'invalid',
  (event) => {
    const field = fieldOf(event)
    // React shows the same of a send that it refuses, and the browser's sentence beside it.
    if (field) field.ariaInvalid = 'true'
    if (!window.isHydrated) document.querySelector('.success, .error')?.remove()
    // By itself the browser would move the first field that it refuses to the window's edge, without its label.
    if (field === document.querySelector(':is(input, textarea):invalid'))
      field?.closest('.field, .choice')?.scrollIntoView({ block: 'center' })
  },
  true,
)

// Somebody came back from the page that the form was posted to, and the browser may show this page as it was left. React
// resets its own button.
window.addEventListener('pageshow', ({ persisted }) => {
  isLeaving = false
  if (window.heldSend) return load()
  if (!persisted || window.isHydrated) return
  showSending(false)
  if (!window.isPosting) return
  // A script that came meanwhile left the form alone.
  window.isPosting = false
  script = undefined
})

// Somebody is about to type. Until then a visit loads the document alone.
for (const sign of ['pointerdown', 'focusin', 'input', 'change', 'submit']) form?.addEventListener(sign, load)
document.addEventListener('keydown', (event) => {
  load()
  if (event.key !== 'Enter' || fieldOf(event)?.name !== 'custom_solution') return
  // It adds the custom option, as typing does, and no line.
  event.preventDefault()
  keep(event)
})

let isRestored = false

/** Fills in the kept answers, before anything new is kept: otherwise only the new answer would be kept. */
function restore() {
  if (isRestored) return
  isRestored = true
  if (outcome?.status === 'success') keepSent()
  // The page's script says when it was sent.
  else if (form && restoreDraft(form)) load()
}

// After the first paint, since opening the browser's store takes longer than everything else here.
requestAnimationFrame(() => setTimeout(restore))
