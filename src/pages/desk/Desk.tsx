import { focusManager, notifyManager, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { useEffect, useRef, useState, useSyncExternalStore, type ReactNode } from 'react'

import type { LoadAuth } from '../../client/session.ts'
import { Applications } from './applications/Applications.tsx'
import { Frame } from './Frame.tsx'
import { announce } from './kit/announce.tsx'
import { focusHeading, keepFocus } from './kit/focus.ts'
import { afterPress, listenTo } from './kit/listen.ts'
import { Boundary, lazyScreen } from './kit/lazy-screen.tsx'
import { isTemporary } from './kit/Problem.tsx'
import { useRoute } from './data/route.ts'
import { DeskProvider, type Me } from './data/useDesk.tsx'
import { forgetOthersUnsentText } from './data/useUnsentText.ts'
import { Opening } from './session/Opening.tsx'
import { useSignInLink, type LinkSession } from './session/sign-in-link.ts'
import type { WatchedSession } from './session/watch-session.ts'

interface DeskProps {
  auth: LoadAuth
  /** The state of the session. */
  session: WatchedSession
  /** The unconfirmed session from a hosted project's link. */
  linkSession: LinkSession | undefined
  /** Whether organisers sign in at a hosted project. This server is then connected only to the project's database. */
  isSignInElsewhere: boolean
  /** The version of the desk. */
  version: string
}

/** Milliseconds before a failed read is retried. */
const retryInterval = 5_000

// Listens to `focus` too: between two windows side by side, only the focus changes.
focusManager.setEventListener((onFocus) => listenTo('focus', 'visibilitychange')(() => onFocus()))

// Data and its announcement appear in the same task. By default, data would appear one task later. A tab that appears during a press
// would move the others away from under the pointer, and the click would be lost.
notifyManager.setScheduler((call) => afterPress(() => queueMicrotask(call)))

/** Creates the query cache of one organiser. It is dropped on signing out, so that the next person sees none of its data. */
const createQueries = () =>
  new QueryClient({
    defaultOptions: {
      // client/session.ts already retries calls without a response.
      queries: {
        retry: false,
        refetchOnWindowFocus: false,
        // Offline, queries fail immediately with a message. They are retried until a response arrives.
        networkMode: 'always',
        refetchOnReconnect: true,
        refetchInterval: ({ state }) => isTemporary(state.error) && retryInterval,
      },
    },
  })

const OtherScreen = lazyScreen(async () => (await import('./other-screens.ts')).OtherScreen)

const loadSignIn = () => import('./sign-in.ts')

/** The form that signs in. The document has it already. */
export const SignIn = lazyScreen(async () => (await loadSignIn()).SignIn)
const SignInByLink = lazyScreen(async () => (await loadSignIn()).SignInByLink)
const SecondFactor = lazyScreen(async () => (await loadSignIn()).SecondFactor)
const NotAnOrganiser = lazyScreen(async () => (await loadSignIn()).NotAnOrganiser)
const SignInElsewhere = lazyScreen(async () => (await loadSignIn()).SignInElsewhere)
const Unreachable = lazyScreen(async () => (await loadSignIn()).Unreachable)

/** The organisers' page: the sign-in, and then the screens. */
export function Desk(props: DeskProps) {
  useEffect(keepFocus, [])
  return (
    <Boundary>
      <SignedInOrOut {...props} />
    </Boundary>
  )
}

/** Shows the desk to a signed-in organiser, and otherwise the steps of signing in. */
function SignedInOrOut({ auth, session, linkSession, isSignInElsewhere, version }: DeskProps) {
  const state = useSyncExternalStore(session.subscribe, session.state, session.state)
  const [pendingSession, setPendingSession] = useState(linkSession)
  const link = useSignInLink() ?? pendingSession
  useHeadingAfterSignIn(state.step)
  if (isSignInElsewhere) return <SignInElsewhere />
  if (link) {
    const key = 'token_hash' in link ? link.token_hash : ''
    return <SignInByLink key={key} auth={auth} link={link} onLeave={() => setPendingSession(undefined)} />
  }
  switch (state.step) {
    case 'opening':
      return <Opening />
    case 'out':
      return <SignIn auth={auth} notice={state.notice} />
    case 'factor':
      return <SecondFactor {...{ auth, session }} />
    case 'stranger':
      return <NotAnOrganiser session={session} email={state.email} />
    case 'unreachable':
      return <Unreachable error={state.error} onTryAgain={session.recheck} />
    case 'in':
      return (
        <SignedIn key={`${state.account} ${state.isReader}`} me={state}>
          <Frame {...{ session, version }}>
            <CurrentScreen {...{ auth, session }} />
          </Frame>
        </SignedIn>
      )
  }
}

/** Focuses the heading after signing in, because the focused form has disappeared. */
function useHeadingAfterSignIn(step: ReturnType<WatchedSession['state']>['step']) {
  const isSigningIn = useRef(false)
  useEffect(() => {
    if (step === 'out' || step === 'factor') isSigningIn.current = true
    if (step !== 'in' || !isSigningIn.current) return
    isSigningIn.current = false
    focusHeading()
  }, [step])
}

/** The desk of a signed-in organiser. When it opens, it deletes other people's unsent text; when it closes, its query cache. */
function SignedIn({ me, children }: { me: Me; children: ReactNode }) {
  const { account } = me
  const [queries] = useState(createQueries)
  useEffect(() => {
    forgetOthersUnsentText(account)
    return () => {
      queries.clear()
      announce('')
    }
  }, [queries, account])
  return (
    <QueryClientProvider client={queries}>
      <DeskProvider me={me}>{children}</DeskProvider>
    </QueryClientProvider>
  )
}

/** The screen of the route. */
function CurrentScreen({ auth, session }: Pick<DeskProps, 'auth' | 'session'>) {
  const route = useRoute()
  if (route.screen === 'list' || route.screen === 'application') return <Applications route={route} />
  return <OtherScreen {...{ route, auth, session }} />
}
