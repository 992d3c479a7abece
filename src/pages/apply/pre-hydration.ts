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
let tries = 0
/** Firefox ends the script's download with an error when the page is left. */
let isLeaving = false

/** Asks for the page's script, unless that was done. */
function load() {
  if (script) return
  script = document.createElement('script')
  script.type = 'module'
  // Browsers remember of an address that its module failed.
  script.src = tries ? `${address}#${tries}` : address
  tries += 1
  script.addEventListener('error', () => {
    script = undefined
    if (window.heldSend && !isLeaving) fallBack()
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
      window.removeEventListener('beforeunload', leave)
      window.heldSend = undefined
    },
  }
  // Only as long as it is needed: it may keep the page from being restored as it was.
  window.addEventListener('beforeunload', leave)
  document.querySelector('#outcome .outcome')?.remove()
  showSending(true)
  load()
}

function leave() {
  isLeaving = true
}

/** What React renders for the same state, so that it finds what it expects. */
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

/** The page's script failed: the browser sends the form by itself where somebody takes it. */
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
  box.innerHTML = `<h2>${failureTitle}</h2><p>${messageOf(undefined)}</p>`
  document.getElementById('outcome')?.append(box)
  box.scrollIntoView({ block: 'nearest' })
}

/** What of the form an event is about. */
function fieldOf({ target }: Event) {
  return target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement ? target : undefined
}

function showAround(field: Element | undefined, block: 'center' | 'nearest') {
  field?.closest('.field, .choice')?.scrollIntoView({ block })
}

function chooseCustom() {
  const choice = document.querySelector<HTMLInputElement>('[value=custom]')
  if (choice) choice.checked = true
}

const [form] = document.forms
let lastKey = ''
let lastTarget: EventTarget | null

document.addEventListener('submit', hold)
document.addEventListener('input', (event) => {
  const field = fieldOf(event)
  restore()
  if (field?.name === 'custom_solution') chooseCustom()
  if (field?.form) keepDraft(field.form)
})
document.addEventListener('keydown', (event) => {
  lastKey = event.key
  lastTarget = event.target
  const field = fieldOf(event)
  // WebKit says by its code alone that Enter ended a composition.
  if (
    event.key !== 'Enter' ||
    event.isComposing ||
    event.keyCode === 229 ||
    field?.name !== 'custom_solution'
  )
    return
  event.preventDefault()
  chooseCustom()
  if (field.form) keepDraft(field.form)
  const next = document.querySelectorAll<HTMLInputElement>('[name=team_size]')
  ;([...next].find(({ checked }) => checked) ?? next[0])?.focus()
})
document.addEventListener('keyup', (event) => {
  // The browser alone would show the field that the key led to without its label.
  if (event.target !== lastTarget) showAround(fieldOf(event), 'nearest')
})
document.addEventListener('pointerdown', () => (lastKey = ''))
document.addEventListener('click', (event) => {
  const field = fieldOf(event)
  // Not with the arrows, by which one goes through the choices.
  if (field?.value !== 'custom' || field.type !== 'radio' || lastKey.startsWith('Arrow')) return
  field.closest('.choice')?.querySelector('textarea')?.focus()
})
// Not left to the browser, which moves the first field that it refuses to the window's edge, without its label.
document.addEventListener(
  'invalid',
  (event) => {
    const field = fieldOf(event)
    if (field !== document.querySelector(':is(input, textarea):invalid')) return
    if (!window.isHydrated) document.querySelector('#outcome .outcome')?.remove()
    showAround(field, 'center')
  },
  true,
)

// Back from where the form was posted to: the browser may show the page as it was left. React's button is React's.
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

// Somebody will write: until then a visit is the document alone.
for (const sign of ['pointerdown', 'focusin', 'input', 'change', 'submit']) form?.addEventListener(sign, load)
document.addEventListener('keydown', load)

let isRestored = false

/** What is typed before this would otherwise be all that is kept. */
function restore() {
  if (isRestored) return
  isRestored = true
  if (outcome?.status === 'success') forgetDraft()
  else if (form) restoreDraft(form)
}

// After the first paint: the browser's store takes longer to open than all else here.
requestAnimationFrame(() => setTimeout(restore))
