/**
 * The document's inline script. It loads the desk's script. If a signed-in organiser opens the list, it first requests the
 * first rows, and draws them when the document is parsed. Without a session it shows the sign-in form, and remembers a
 * pressed button until the desk's script runs. The site's root comes from the address, since a static host may serve the document
 * from a folder.
 */
import { callKey, type EarlyCalls } from '../../client/early-calls.ts'
import type { ListPage } from '../../client/desk/applications.ts'
import type { Arguments, Calls } from '../../client/desk/calls.ts'
import { storedSession, needsSecondFactor } from '../../client/stored-session.ts'
import { requestOf } from '../../client/rest.ts'
import { mendAddress, mendedDeskHash } from '../mended-link.ts'
import { readPageData } from '../page-data.ts'
import { drawEarlyList, storeEarlyInput, isFirstList } from './applications/early-list.tsx'
import type { DeskData } from './desk-data.ts'
import { afterFrame } from './applications/after-frame.ts'
import { prepareMoments } from './kit/format.ts'
import { firstPageArguments } from './data/list.ts'
import { siteRoot } from '../site-root.ts'

declare global {
  interface Window {
    /** The button pressed in the sign-in form before the page's script ran; null once the sign-in form works. */
    heldPress?: HTMLElement | null
  }
}

/** Maximum milliseconds that the page's script waits for the first rows. Loading both at once would delay the rows. */
const maxWait = 1_000

/** Timeout of an early call in milliseconds, with its body. */
const callTimeout = 20_000

mendLink()
addEventListener('hashchange', mendLink)

const { backend, isSignInElsewhere } = readPageData() as DeskData
const script = document.createElement('script')
script.type = 'module'
script.src = new URL(document.currentScript?.dataset['page'] ?? '', siteRoot()).href
const preload = document.createElement('link')
preload.rel = 'preload'
preload.as = 'script'
preload.crossOrigin = ''
preload.href = script.src
const fetchScript = () => document.head.append(preload)

const stored = storedSession()
const firstRows = stored && !needsSecondFactor(stored) ? startFirstCalls(stored.access_token) : undefined
// Without a session nothing is preloaded: the form is shown without the script, and loading it would delay the document.
if (firstRows) void firstRows.then(fetchScript)
else if (stored !== null) fetchScript()
// Other fragments come from sign-in links.
if (stored === null && !isSignInElsewhere && /^(#(\/.*)?)?$/.test(location.hash)) {
  // Runs as soon as the element exists, before its content is painted.
  const observer = new MutationObserver(() => {
    const page = document.getElementById('opening')?.closest('main')
    if (!page) return
    observer.disconnect()
    showSignIn(page)
  })
  observer.observe(document, { childList: true, subtree: true })
}
document.addEventListener('DOMContentLoaded', () => {
  const page = document.getElementById('page')
  if (page === null) return
  script.addEventListener('error', () => showNotLoaded(page))
  const run = () => document.head.append(script)
  // The form is painted before the script runs.
  if (firstRows === undefined) return void setTimeout(run)
  setTimeout(run, maxWait)
  firstRows
    .then((response) => response?.clone().json())
    // The early list offers what readers may not do.
    .then((first?: ListPage) => first && !first.reader && drawEarlyList(page, first.applications))
    // The page's script repeats the call and shows the error.
    .catch(() => {})
    .finally(() => afterFrame(run))
})

/**
 * Starts the desk's first calls. Returns a promise of the response with the first rows, or of undefined if that call fails.
 * Returns undefined if the address shows another screen.
 */
function startFirstCalls(token: string) {
  const calls: EarlyCalls = new Map()
  window.earlyCalls = calls
  // Returning to the list must read it again.
  addEventListener('popstate', () => calls.clear())
  const base = backend.url ?? siteRoot()
  const call = <Name extends keyof Calls>(name: Name, args: Arguments<Name>) => {
    const { url, init } = requestOf({ ...backend, url: base }, `rpc/${name}`, args, token)
    const okResponse = fetch(url, { ...init, signal: AbortSignal.timeout(callTimeout) }).then(
      (response) => (response.ok ? response : undefined),
      () => undefined,
    )
    calls.set(callKey(token, url, init.body), okResponse)
    return okResponse
  }
  if (!isFirstList()) return void call('desk_me', {})
  storeEarlyInput()
  const first = call('desk_list', firstPageArguments({ status: 'new' }))
  void call('desk_me', {})
  // Uses the time until the response arrives.
  prepareMoments()
  return first
}

/** Mends a link that a mail program changed, before the page's script reads it. */
function mendLink() {
  mendAddress()
  const hash = mendedDeskHash(location.hash)
  if (hash !== location.hash) history.replaceState(history.state, '', hash)
}

function showSignIn(page: HTMLElement) {
  const form = page.querySelector<HTMLTemplateElement>('#sign-in')?.content
  if (form) page.replaceChildren(form)
  page.addEventListener('submit', (event) => {
    event.preventDefault()
    if (event.submitter) holdPress(event.submitter)
  })
  page.addEventListener('click', ({ target }) => {
    const button = target instanceof Element ? target.closest<HTMLElement>('button[type=button]') : null
    if (button) holdPress(button)
  })
  page.querySelector('input')?.focus()
}

/** Remembers the last pressed button until the form works, and shows it as pending. */
function holdPress(button: HTMLElement) {
  if (window.heldPress === null) return
  window.heldPress?.removeAttribute('aria-busy')
  window.heldPress = button
  button.setAttribute('aria-busy', 'true')
}

function showNotLoaded(page: HTMLElement) {
  // Rows that arrive later must not replace the message.
  window.earlyInput = null
  const message =
    document.getElementById('opening') ??
    page.querySelector('.session-step, .list-top')?.appendChild(document.createElement('p'))
  if (message) message.textContent = 'The desk could not be loaded. Please check your connection and reload.'
}
