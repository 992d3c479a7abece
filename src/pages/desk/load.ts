/**
 * Asks for the desk's script as soon as the document begins, and for the first list of who is signed in. When the
 * document is there, the list is drawn; who is not signed in has the form to do so, which holds what is pressed. What the
 * site is at is told by the address, since a static host may give the document as a folder's.
 */
import { callKey, type BegunCalls } from '../../client/begun.ts'
import type { ListPage } from '../../client/desk/applications.ts'
import { keptSession, needsFactor } from '../../client/kept-session.ts'
import { requestOf } from '../../client/rpc.ts'
import { readPageData } from '../page-data.ts'
import { drawEarlyList, holdKeys, isFirstList } from './applications/early-list.ts'
import { prepareMoments } from './kit/format.ts'
import type { DeskData } from './render.tsx'
import { holdPress } from './session/held-press.ts'
import { siteRoot } from '../site-root.ts'

/** Milliseconds that the script waits for the first list's rows: beside it, they would come and be drawn late. */
const longestWait = 1_000

const { backend, signInIsElsewhere } = readPageData() as DeskData
const script = document.createElement('script')
script.type = 'module'
script.src = new URL(document.currentScript?.dataset['page'] ?? '', siteRoot()).href
const preload = document.createElement('link')
preload.rel = 'modulepreload'
preload.href = script.src
const fetchScript = () => document.head.append(preload)

const kept = keptSession()
const list = kept && !needsFactor(kept) ? begin(kept.access_token) : undefined
// The form to sign in with needs no script, which would come between it and its document.
if (list) void list.then(fetchScript)
else if (kept !== null) fetchScript()
// What else a fragment says is a link's.
if (kept === null && !signInIsElsewhere && /^(#(\/.*)?)?$/.test(location.hash)) {
  // As soon as its place is there: what stands in it would be painted first.
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
    // The page's script reads the same, and says it.
    .catch(() => {})
    // Once they are painted.
    .finally(() => requestAnimationFrame(() => setTimeout(run)))
})

/** Begins what the desk asks for first, and gives the first list where that is what the address asks for. */
function begin(token: string) {
  const calls: BegunCalls = new Map()
  window.begunCalls = calls
  // Whoever comes back to the list reads it as it is then.
  addEventListener('popstate', () => calls.clear())
  const base = (backend.url ?? siteRoot()).replace(/\/$/, '')
  const call = (name: string, given: object) => {
    const { url, init } = requestOf(base, backend.anonKey, token, name, given)
    const answer = fetch(url, init).then(
      (response) => (response.ok ? response : undefined),
      () => undefined,
    )
    calls.set(callKey(token, url, init.body), answer)
    return answer
  }
  if (!isFirstList()) return void call('desk_me', {})
  holdKeys()
  const first = call('desk_list', { filter: { status: 'new' }, after: null })
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

function tellNotLoaded(page: HTMLElement) {
  // What comes now is not drawn over it.
  window.heldKeys = null
  const message =
    document.getElementById('opening') ??
    page.querySelector('.step, .list-top')?.appendChild(document.createElement('p'))
  if (message) message.textContent = 'The desk could not be loaded. Please check your connection and reload.'
}
