/**
 * The form's behaviour until the page's script has loaded, or if that script never loads. It is part of the inline script, which is
 * placed right after the form. Its listeners stay active after that script has taken over.
 */
import { storeDraft, storeSentTime, restoreDraft } from './draft.ts'
import { readPageData } from '../page-data.ts'
import type { ScriptData } from './apply-data.ts'
import { failureTitle, fallbackText } from './copy.ts'
import { showSending } from './sending.ts'

/** Maximum milliseconds that a submission waits for the page's script. */
const timeout = 10_000

const { posted, takesNativePosts } = readPageData() as ScriptData
/** The address of the page's script, from an attribute of this inline script. */
const address = document.currentScript?.dataset['page'] ?? ''
let script: HTMLScriptElement | undefined
/** Added to the address: browsers remember that a module failed, so each retry needs a different one. */
let suffix = ''
/** Whether the page is being closed: Firefox then reports an error of the page's script. */
let isLeaving = false

/** Loads the page's script, unless it is loading or has loaded. */
export function load() {
  if (script) return
  script = document.createElement('script')
  script.type = 'module'
  script.src = address + suffix
  suffix += '#1'
  script.addEventListener('error', () => {
    script = undefined
    if (window.heldSubmission && !isLeaving) fallBack()
  })
  document.head.append(script)
}

/** Holds every submit event that the page's script has not handled. It calls `preventDefault` on each event that it handles. */
function hold(event: Event) {
  if (event.defaultPrevented) return
  event.preventDefault()
  if (window.heldSubmission) return
  const timer = setTimeout(fallBack, timeout)
  window.heldSubmission = {
    claim() {
      clearTimeout(timer)
      removeEventListener('beforeunload', leave)
      window.heldSubmission = undefined
    },
  }
  // `claim` removes the listener, because such a listener can keep browsers from restoring the page.
  addEventListener('beforeunload', leave)
  document.querySelector('.success, .error')?.remove()
  showSending(true)
  load()
}

function leave() {
  isLeaving = true
}

/**
 * Ends a submission without the page's script, which failed or took too long. Lets the browser post the form if the page's server
 * accepts that. Otherwise shows an error.
 */
function fallBack() {
  window.heldSubmission?.claim()
  // Offline, the browser would leave the page for its own error page.
  if (takesNativePosts && navigator.onLine) {
    window.isPosting = true
    return document.forms[0]?.submit()
  }
  showSending(false)
  const box = document.createElement('div')
  box.className = 'outcome error'
  box.role = 'alert'
  box.innerHTML = `<h2>${failureTitle}</h2><p>${fallbackText}</p>`
  document.getElementById('outcome')?.append(box)
  box.scrollIntoView({ block: 'nearest' })
}

/** The form field that is the target of an event. */
function fieldOf({ target }: Event) {
  return target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement ? target : undefined
}

/** Stores the typed form answers. Typing in the custom box also selects the custom option. */
function onInput(event: Event) {
  const field = fieldOf(event)
  restore()
  if (field?.name === 'custom_solution') {
    const choice = document.querySelector<HTMLInputElement>('[value=custom]')
    if (choice) choice.checked = true
  }
  if (field?.form) storeDraft(field.form)
}

const [form] = document.forms

document.addEventListener('submit', hold)
document.addEventListener('input', onInput)
document.addEventListener(
  'invalid',
  (event) => {
    const field = fieldOf(event)
    // The page's script adds the browser's message.
    if (field) field.ariaInvalid = 'true'
    if (!window.isReady) document.querySelector('.success, .error')?.remove()
    // The browser would scroll the first invalid field to the window's edge, without its label.
    if (field === document.querySelector(':is(input, textarea):invalid'))
      field?.closest('.field, .choice')?.scrollIntoView({ block: 'center' })
  },
  true,
)

// Handles Back from the page that the form was posted to. The browser may restore this page as it was. The page's
// script resets the button itself.
addEventListener('pageshow', ({ persisted }) => {
  isLeaving = false
  if (window.heldSubmission) return load()
  if (!persisted || window.isReady) return
  showSending(false)
  if (!window.isPosting) return
  // A page script that loaded while the browser was posting did not take over the form, so it must load again.
  window.isPosting = false
  script = undefined
})

// Loads the page's script when somebody is about to type. Until then a visit loads only the document.
for (const event of ['pointerdown', 'focusin', 'input', 'change']) form?.addEventListener(event, load)
document.addEventListener('keydown', (event) => {
  load()
  // The code of Enter alone: in a composition every key has the code 229, also the Enter that ends it.
  if (event.keyCode !== 13 || fieldOf(event)?.name !== 'custom_solution') return
  if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return
  // Enter selects the custom option, as typing does, and adds no line.
  event.preventDefault()
  onInput(event)
})

let isRestored = false

/** Restores the stored form answers. It must run before new ones are stored, because storing overwrites them. */
function restore() {
  if (isRestored) return
  isRestored = true
  if (posted === 'success') storeSentTime()
  // The page's script shows the time when the form was sent.
  else if (form && restoreDraft(form)) load()
}

// After the first paint, since opening the storage takes longer than everything else here.
requestAnimationFrame(() => setTimeout(restore))
