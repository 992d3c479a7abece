/**
 * Asks for the desk's script at once. What it is at is told by the address, since a static host may give the document as
 * a folder's. Meanwhile who is signed in has the first list asked for, and who is not has the form to sign in with, which
 * holds what is pressed.
 */
import { callKey, type BegunCalls } from '../../client/begun.ts'
import { keptSession, needsFactor } from '../../client/kept-session.ts'
import { requestOf } from '../../client/rpc.ts'
import { readPageData } from '../page-data.ts'
import type { DeskData } from './render.tsx'
import { holdPress } from './session/held-press.ts'
import { siteRoot } from './site-root.ts'

const page = document.getElementById('page')
const script = document.createElement('script')
script.type = 'module'
script.src = new URL(document.currentScript?.dataset['page'] ?? '', siteRoot()).href
script.addEventListener('error', () => {
  const message =
    document.getElementById('opening') ??
    page?.querySelector('.step')?.appendChild(document.createElement('p'))
  if (message) message.textContent = 'The desk could not be loaded. Please check your connection and reload.'
})
document.head.append(script)

const { backend, signInIsElsewhere } = readPageData() as DeskData
const kept = keptSession()
// What else a fragment says is a link's.
if (kept === null && !signInIsElsewhere && /^(#(\/.*)?)?$/.test(location.hash)) {
  const form = document.querySelector('template')?.content
  if (form) page?.replaceChildren(form)
  page?.addEventListener('submit', (event) => {
    event.preventDefault()
    if (event.submitter) holdPress(event.submitter)
  })
  page?.addEventListener('click', ({ target }) => {
    const other = target instanceof Element ? target.closest<HTMLElement>('button[type=button]') : null
    if (other) holdPress(other)
  })
  page?.querySelector('input')?.focus()
}
if (kept && !needsFactor(kept)) {
  const calls: BegunCalls = new Map()
  window.begunCalls = calls
  const base = (backend.url ?? siteRoot()).replace(/\/$/, '')
  const begin = (name: string, given: object) => {
    const { url, init } = requestOf(base, backend.anonKey, kept.access_token, name, given)
    const answer = fetch(url, init).then(
      (response) => (response.ok ? response : undefined),
      () => undefined,
    )
    calls.set(callKey(kept.access_token, url, init.body), answer)
  }
  begin('desk_me', {})
  if (/^(#\/?)?$/.test(location.hash)) begin('desk_list', { filter: { status: 'new' }, after: null })
}
