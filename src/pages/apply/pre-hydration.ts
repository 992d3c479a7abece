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
  const button = document.querySelector<HTMLButtonElement>('button[type=submit]')
  // Enter in a field sends, too; after it, the browser shows that field once more.
  if (sending) requestAnimationFrame(() => button?.scrollIntoView({ block: 'nearest' }))
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
  if (takesNativePosts) return document.forms[0]?.submit()
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

/** Where the style cannot, a text area grows here with what is written. */
function grow(field: Element | undefined) {
  if (!(field instanceof HTMLTextAreaElement) || CSS.supports('field-sizing', 'content')) return
  field.style.height = 'auto'
  if (field.scrollHeight > field.clientHeight) field.style.height = `${field.scrollHeight + 2}px`
}

const [form] = document.forms
let lastKey = ''
let lastTarget: EventTarget | null

document.addEventListener('submit', hold)
document.addEventListener('input', (event) => {
  const field = fieldOf(event)
  if (field?.name === 'custom_solution') chooseCustom()
  grow(field)
  if (field?.form) keepDraft(field.form)
})
document.addEventListener('keydown', (event) => {
  lastKey = event.key
  lastTarget = event.target
  const field = fieldOf(event)
  if (event.key !== 'Enter' || event.isComposing || field?.name !== 'custom_solution') return
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
    if (!window.isHydrated) document.querySelector('#outcome .success')?.remove()
    showAround(field, 'center')
  },
  true,
)

// Back from where the form was posted to: the browser may show the page as it was left. React's button is React's.
window.addEventListener('pageshow', ({ persisted }) => {
  if (window.heldSend) load()
  else if (persisted && !window.isHydrated) showSending(false)
})

// Somebody will write: until then a visit is the document alone.
for (const sign of ['pointerdown', 'focusin', 'input', 'change', 'submit']) form?.addEventListener(sign, load)
document.addEventListener('keydown', load)

// After the first paint: the browser's store takes longer to open than all else here.
requestAnimationFrame(() =>
  setTimeout(() => {
    if (outcome?.status === 'success') forgetDraft()
    else if (form) {
      restoreDraft(form)
      form.querySelectorAll('textarea').forEach(grow)
    }
  }),
)
