import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useSyncExternalStore, type MouseEvent, type ReactNode } from 'react'

import type { LettersOverview } from '../../client/desk/letters.ts'
import { Announcement } from './kit/announce.tsx'
import { Button } from './kit/Button.tsx'
import { useIsOffline } from './kit/connection.ts'
import { Dialog, DialogContent } from './kit/Dialog.tsx'
import { countOf } from './kit/format.ts'
import { draftCountOf } from './data/draft-count.ts'
import { listenTo } from './kit/listen.ts'
import { hrefOf, isForReaders, roomOf, useRoute, unfilteredList, type Route } from './data/route.ts'
import { Boundary, lazyScreen, PartNotLoaded } from './kit/lazy-screen.tsx'
import { Brand } from './kit/site-title.tsx'
import { useDecisionQueue, useDesk } from './data/useDesk.tsx'
import { SignOutButton } from './session/SignOutButton.tsx'
import type { WatchedSession } from './session/watch-session.ts'

interface FrameProps {
  session: Pick<WatchedSession, 'signOut'>
  version: string
  children: ReactNode
}

/** The frame of every screen: the navigation, the account, notices and announcements. */
export function Frame({ session, version, children }: FrameProps) {
  const { email, isReader, letters, confirmLoss } = useDesk()
  const route = useRoute()
  const edition = editionOf(route)
  const queries = useQueryClient()
  // Never fetches: each screen reads the overview itself, after its own data.
  const { data: letterAttributes } = useQuery({ ...letters(), enabled: false, select: letterAttributesOf })
  return (
    <div className="desk-frame">
      <header className="desk-top">
        <a className="visually-hidden" href="#content" onClick={skipToContent}>
          Skip to the content
        </a>
        <Brand />
        <nav aria-label="Desk">
          {(isReader ? roomsOfReaders : rooms).map(([name, to]) => (
            <a
              key={name}
              className="desk-link"
              href={hrefOf(edition === undefined ? to : inEdition(to, edition))}
              aria-current={name === roomOf(route) ? 'page' : undefined}
              {...(to.screen === 'letters' && letterAttributes)}
            >
              {name}
            </a>
          ))}
        </nav>
        <p className="desk-who">{email}</p>
        <div className="desk-tools">
          <KeyHelp />
          <SignOutButton {...{ session, confirmLoss }} />
        </div>
      </header>
      <ConnectionNotice />
      <NotSaved />
      <div id="content" tabIndex={-1}>
        {/* The data may have caused the error, so all data is read again. */}
        <Boundary key={mountKeyOf(route)} onTryAgain={() => queries.removeQueries()}>
          {children}
        </Boundary>
      </div>
      <footer className="layout-quiet">Unplugged. {version}</footer>
      <Announcement screen={mountKeyOf(route)} />
    </div>
  )
}

/** The number of the retreat that a screen shows; undefined for the newest, and on screens of all retreats. */
function editionOf(route: Route) {
  return 'filters' in route ? route.filters.edition : 'edition' in route ? route.edition : undefined
}

/** A link's route for an earlier retreat. Its list begins with the tab All, because its applications have been decided. */
function inEdition(to: Route, edition: number): Route {
  if (to.screen === 'list') return { ...to, filters: { ...to.filters, status: 'all', edition } }
  return to.screen === 'coming' || to.screen === 'retreat' ? { ...to, edition } : to
}

/** The React key of the current screen. The list and its applications have the same key, so that the list stays mounted. */
function mountKeyOf(route: Route) {
  return route.screen === 'application' ? hrefOf(unfilteredList) : hrefOf(route).split('?')[0]
}

/** The numbers of drafts and refused letters, as attributes of a link. Its accessible name does not change. */
function letterAttributesOf(overview: LettersOverview) {
  const drafts = draftCountOf(overview)
  const refused = overview.states.refused.count
  if (drafts + refused === 0) return {}
  const title = [
    ...(drafts > 0 ? [countOf(drafts, 'draft')] : []),
    ...(refused > 0 ? [`${countOf(refused, 'letter')} refused`] : []),
  ].join(', ')
  return { title, 'data-drafts': drafts || undefined, 'data-refused': refused || undefined }
}

/** Skips by script, because the fragment of the address contains the route. */
function skipToContent(event: MouseEvent) {
  event.preventDefault()
  document.getElementById('content')?.focus()
}

const listenToConnection = listenTo('online', 'offline')

/** A notice while the server cannot be reached. A change of the browser's online status triggers a check. */
function ConnectionNotice() {
  const isOffline = useIsOffline()
  const isBrowserOnline = useSyncExternalStore(
    listenToConnection,
    () => navigator.onLine,
    () => true,
  )
  useQuery({ ...useDesk().connection(isBrowserOnline), enabled: isOffline || !isBrowserOnline })
  if (!isOffline) return null
  return (
    <p className="layout-notice" role="alert">
      You are offline. What you see may be out of date and will refresh when you reconnect.
    </p>
  )
}

const DecisionProblems = lazyScreen(
  async () => (await import('./applications/deferred.ts')).DecisionProblems,
  PartNotLoaded,
)

/** What was not saved, while no screen says so: refused decisions, and acts that failed after their screens were left. */
function NotSaved() {
  const { failedActs } = useDesk()
  const { state } = useDecisionQueue()
  const failed = useSyncExternalStore(failedActs.subscribe, failedActs.all, failedActs.all)
  return (
    <div className="desk-problems">
      {state.refusals.size > 0 && <DecisionProblems />}
      {failed.map(({ subject, screen, failure, repeat }) => {
        const forget = () => failedActs.forgetOne(subject)
        return (
          <section key={subject} role="alert" className="layout-notice error">
            <p>
              <bdi>{screen.title}</bdi>: {withSmallInitial(failure)}
            </p>
            <p className="layout-row">
              {repeat && (
                <Button
                  onPress={() => {
                    forget()
                    repeat()
                  }}
                >
                  Try again
                </Button>
              )}
              <a className="control-link" href={screen.address}>
                Open
              </a>
              <Button onPress={forget}>Close</Button>
            </p>
          </section>
        )
      })}
    </div>
  )
}

const withSmallInitial = (sentence: string) => sentence.charAt(0).toLowerCase() + sentence.slice(1)

const rooms: [name: string, to: Route][] = [
  ['Applications', unfilteredList],
  ['Guests', { screen: 'coming' }],
  ['Letters', { screen: 'letters' }],
  ['Retreat', { screen: 'retreat' }],
  ['Account', { screen: 'account' }],
]
const roomsOfReaders = rooms.filter(([, to]) => isForReaders(to))

const KeyList = lazyScreen(async () => (await import('./other-screens.ts')).KeyList, PartNotLoaded)

/** The dialog with the keyboard shortcuts. */
function KeyHelp() {
  return (
    <Dialog button="Keys" openKey="?" className="desk-keys">
      {(close) => (
        <DialogContent title="Keys" close={close}>
          <KeyList />
        </DialogContent>
      )}
    </Dialog>
  )
}
