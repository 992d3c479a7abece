import { focusManager, notifyManager, QueryClient } from '@tanstack/react-query'

import type { LoadAuth } from '../../client/session.ts'
import { ApplicationList } from './applications/ApplicationList.tsx'
import { Frame } from './Frame.tsx'
import { Boundary, Heading, lazyScreen, useTitle } from './kit/Screen.tsx'
import { isUnreachable } from './kit/Problem.tsx'
import { hrefOf, useRoute, wholeList } from './kit/route.ts'
import { loadLetterWriteMany } from './letters/LetterWriteMany.tsx'
import type { BroughtSession } from './session/arrival.ts'
import { SignedIn } from './session/SignedIn.tsx'
import type { WatchedSession } from './session/watch-session.ts'

interface DeskProps {
  auth: LoadAuth
  /** Who is signed in. */
  session: WatchedSession
  /** What a hosted project's link brought. */
  brought: BroughtSession | undefined
  /** Whether organisers sign in at a hosted project, which this server knows only the database of. */
  signInIsElsewhere: boolean
  /** Which version of the desk this is. */
  version: string
}

/** Milliseconds after which what could not be read is asked for again. */
const tryAgain = 5_000

// With two windows side by side, a window gets the focus without having been hidden.
focusManager.setEventListener((onLook) => {
  const listener = () => onLook()
  addEventListener('focus', listener)
  addEventListener('visibilitychange', listener)
  return () => {
    removeEventListener('focus', listener)
    removeEventListener('visibilitychange', listener)
  }
})

// What was written is on the screen with the words that say so: by default it would come a turn later.
notifyManager.setScheduler(queueMicrotask)

/** What one person read. It is dropped when they sign out, so that the next person sees nothing of it. */
const createQueries = () =>
  new QueryClient({
    defaultOptions: {
      // client/session.ts repeats a call that got no answer.
      queries: {
        retry: false,
        refetchOnWindowFocus: false,
        // Without a connection a query fails and says so, and is repeated until an answer comes.
        networkMode: 'always',
        refetchOnReconnect: true,
        refetchInterval: ({ state }) => isUnreachable(state.error) && tryAgain,
      },
    },
  })

const ApplicationShow = lazyScreen(() => import('./applications/ApplicationShow.tsx'))
const OtherScreen = lazyScreen(() => import('./OtherScreen.tsx'))

/** Loads the screens that the first list does not need, before the connection is lost or the server is updated. */
export async function loadScreens(): Promise<void> {
  await Promise.all([ApplicationShow.load(), OtherScreen.load(), loadLetterWriteMany()])
}

/** The organisers' page: signing in, and then a screen for each address. */
export function Desk({ auth, session, brought, signInIsElsewhere, version }: DeskProps) {
  return (
    <Boundary>
      <SignedIn {...{ auth, session, brought, createQueries }} isElsewhere={signInIsElsewhere}>
        <Frame {...{ session, version }}>
          <Shown {...{ auth, session }} />
        </Frame>
      </SignedIn>
    </Boundary>
  )
}

/** The screen of the route. */
function Shown({ auth, session }: Pick<DeskProps, 'auth' | 'session'>) {
  const route = useRoute()
  switch (route.screen) {
    case 'list':
      return <ApplicationList filters={route.filters} />
    case 'application':
      return <ApplicationShow key={route.id} id={route.id} filters={route.filters} />
    case 'unknown':
      return <Unknown />
    case 'places':
    case 'letters':
    case 'drafts':
    case 'template':
    case 'outbox':
    case 'door':
    case 'history':
    case 'account':
      return <OtherScreen {...{ route, auth, session }} />
  }
}

function Unknown() {
  const title = 'There is nothing here'
  useTitle(title)
  return (
    <>
      <Heading>{title}</Heading>
      <p>
        No screen of the desk has this address. <a href={hrefOf(wholeList)}>Applications</a>
      </p>
    </>
  )
}
