import { useQueryClient } from '@tanstack/react-query'
import { useSyncExternalStore, type MouseEvent, type ReactNode } from 'react'

import { Announcement } from './kit/announce.tsx'
import { Dialog } from './kit/Dialog.tsx'
import { listenTo } from './kit/listen.ts'
import { hrefOf, useRoute, wholeList, type Route } from './kit/route.ts'
import { Boundary } from './kit/Screen.tsx'
import { useDesk } from './kit/useDesk.tsx'
import { switchKeys, useKeysAreOn } from './kit/useKeys.ts'
import { SignOutButton } from './session/useForm.tsx'
import type { WatchedSession } from './session/watch-session.ts'

interface FrameProps {
  session: Pick<WatchedSession, 'signOut'>
  version: string
  children: ReactNode
}

/** The frame of every screen: the links to the screens, who is signed in, and what was done last. */
export function Frame({ session, version, children }: FrameProps) {
  const { email } = useDesk()
  const route = useRoute()
  const queries = useQueryClient()
  return (
    <div className="desk-frame">
      <header className="desk-top">
        <a className="visually-hidden" href="#content" onClick={skipToContent}>
          Skip to the content
        </a>
        <p className="desk-brand">Unplugged.</p>
        <nav aria-label="Desk">
          {rooms.map(({ name, to, screens }) => (
            <a
              key={name}
              href={hrefOf(to)}
              aria-current={screens.some((screen) => screen === route.screen) ? 'page' : undefined}
            >
              {name}
            </a>
          ))}
        </nav>
        <p className="desk-who">{email}</p>
        <KeyHelp />
        <SignOutButton session={session} />
      </header>
      <ConnectionNotice />
      <div id="content" tabIndex={-1}>
        {/* The screen may have failed because of what was read, so all of it is read anew. */}
        <Boundary key={hrefOf(route).split('?')[0]} onTryAgain={() => queries.removeQueries()}>
          {children}
        </Boundary>
      </div>
      <footer className="layout-quiet">Unplugged. {version}</footer>
      <Announcement />
    </div>
  )
}

/** The fragment says where the desk is, so the link must not change it. */
function skipToContent(event: MouseEvent) {
  event.preventDefault()
  document.getElementById('content')?.focus()
}

const listenToConnection = listenTo('online', 'offline')

/** Says that the browser is offline, for as long as it is. */
function ConnectionNotice() {
  const isThere = useSyncExternalStore(
    listenToConnection,
    () => navigator.onLine,
    () => true,
  )
  if (isThere) return null
  return (
    <p className="layout-notice" role="alert">
      You are offline. What you see may be out of date and will refresh when you reconnect.
    </p>
  )
}

const rooms: { name: string; to: Route; screens: Route['screen'][] }[] = [
  { name: 'Applications', to: wholeList, screens: ['list'] },
  { name: 'Places', to: { screen: 'places' }, screens: ['places'] },
  {
    name: 'Letters',
    to: { screen: 'letters' },
    screens: ['letters', 'drafts', 'template', 'outbox'],
  },
  { name: 'Door', to: { screen: 'door' }, screens: ['door'] },
  { name: 'Account', to: { screen: 'account' }, screens: ['account'] },
]

const meanings = [
  ['j, k', 'next, previous'],
  ['Enter', 'open'],
  ['Esc', 'back'],
  ['/', 'search'],
  ['s', 'shortlist'],
  ['a', 'accept'],
  ['w', 'waitlist'],
  ['d', 'decline'],
  ['r', 'back to new'],
  ['n', 'note'],
  ['Ctrl+Enter, Esc', 'add a note, leave it'],
  ['x', 'select'],
  ['z', 'undo'],
  ['?', 'this list'],
] as const

/** What the keys do, and the switch that turns single keys off. */
function KeyHelp() {
  const areOn = useKeysAreOn()
  return (
    <Dialog button="Keys" openKey="?" title="Keys" className="desk-keys" close="Close">
      <dl>
        {meanings.map(([key, meaning]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <label className="control-switch">
        <input type="checkbox" checked={areOn} onChange={({ target }) => switchKeys(target.checked)} />
        Single keys do something
      </label>
    </Dialog>
  )
}
