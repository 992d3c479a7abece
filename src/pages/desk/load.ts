/**
 * Loads the desk's script as soon as the document begins and, where somebody is signed in, asks for the first list. When the
 * document has come, the list is drawn. Where nobody is signed in, the document's form to sign in is shown, which holds
 * what is pressed. The site's root is read from the address, since a static host may serve the document as a folder's.
 */
import { callKey, type BegunCalls } from '../../client/begun.ts'
import type { ListPage } from '../../client/desk/applications.ts'
import type { Arguments, Calls } from '../../client/desk/calls.ts'
import { keptSession, needsFactor } from '../../client/kept-session.ts'
import { requestOf } from '../../client/rest.ts'
import { readPageData } from '../page-data.ts'
import { drawEarlyList, holdEarlyActs, isFirstList } from './applications/early-list.tsx'
import type { DeskData } from './desk-data.ts'
import { afterFrame } from './kit/after-frame.ts'
import { prepareMoments } from './kit/format.ts'
import { firstCall } from './kit/list.ts'
import { siteRoot } from '../site-root.ts'

declare global {
  interface Window {
    /** The button of the sign-in form that was pressed before the page's script came; null once the script is there. */
    heldPress?: HTMLElement | null
  }
}

/** Milliseconds that the script waits for the first list's rows, which would come later if both were loaded at once. */
const longestWait = 1_000

const { backend, signInIsElsewhere } = readPageData() as DeskData
const script = document.createElement('script')
script.type = 'module'
script.src = new URL(document.currentScript?.dataset['page'] ?? '', siteRoot()).href
const preload = document.createElement('link')
preload.rel = 'preload'
preload.as = 'script'
preload.crossOrigin = ''
preload.href = script.src
const fetchScript = () => document.head.append(preload)

const kept = keptSession()
const list = kept && !needsFactor(kept) ? begin(kept.access_token) : undefined
// The form to sign in with needs no script, which would come between it and its document.
if (list) void list.then(fetchScript)
else if (kept !== null) fetchScript()
// Any other fragment belongs to a link.
if (kept === null && !signInIsElsewhere && /^(#(\/.*)?)?$/.test(location.hash)) {
  // As soon as the element is there, since its content would be painted first.
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
  script.addEventListener('error', () => tellNotLoaded(page))
  const run = () => document.head.append(script)
  // After the form.
  if (list === undefined) return void setTimeout(run)
  setTimeout(run, longestWait)
  list
    .then((answer) => answer?.clone().json())
    .then((read?: ListPage) => read && drawEarlyList(page, read.applications))
    // The page's script makes the same call, and shows the error.
    .catch(() => {})
    .finally(() => afterFrame(run))
})

/** Begins the desk's first calls, and gives the first list where the address asks for it. */
function begin(token: string) {
  const calls: BegunCalls = new Map()
  window.begunCalls = calls
  // Whoever comes back to the list reads it anew.
  addEventListener('popstate', () => calls.clear())
  const base = backend.url ?? siteRoot()
  const call = <Name extends keyof Calls>(name: Name, given: Arguments<Name>) => {
    const { url, init } = requestOf({ ...backend, url: base }, `rpc/${name}`, given, token)
    const answer = fetch(url, init).then(
      (response) => (response.ok ? response : undefined),
      () => undefined,
    )
    calls.set(callKey(token, url, init.body), answer)
    return answer
  }
  if (!isFirstList()) return void call('desk_me', {})
  holdEarlyActs()
  const first = call('desk_list', firstCall({ status: 'new' }))
  void call('desk_me', {})
  // While it is on its way.
  prepareMoments()
  return first
}

function showSignIn(page: HTMLElement) {
  const form = page.querySelector<HTMLTemplateElement>('#sign-in')?.content
  if (form) page.replaceChildren(form)
  page.addEventListener('submit', (event) => {
    event.preventDefault()
    if (event.submitter) holdPress(event.submitter)
  })
  page.addEventListener('click', ({ target }) => {
    const other = target instanceof Element ? target.closest<HTMLElement>('button[type=button]') : null
    if (other) holdPress(other)
  })
  page.querySelector('input')?.focus()
}

/** Keeps the last pressed button until the form works, and shows that the press is under way. */
function holdPress(button: HTMLElement) {
  if (window.heldPress === null) return
  window.heldPress?.removeAttribute('aria-busy')
  window.heldPress = button
  button.setAttribute('aria-busy', 'true')
}

function tellNotLoaded(page: HTMLElement) {
  // Rows that come now are not drawn over it.
  window.earlyList = null
  const message =
    document.getElementById('opening') ??
    page.querySelector('.session-step, .list-top')?.appendChild(document.createElement('p'))
  if (message) message.textContent = 'The desk could not be loaded. Please check your connection and reload.'
}
