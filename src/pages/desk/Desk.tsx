import { focusManager, notifyManager, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { useEffect, useRef, useState, useSyncExternalStore, type ReactNode } from 'react'

import type { LoadAuth } from '../../client/session.ts'
import { Applications } from './applications/Applications.tsx'
import { outcomeOf } from './decisions/sentences.ts'
import { Frame } from './Frame.tsx'
import { announce } from './kit/announce.tsx'
import { focusHeading } from './kit/focus.ts'
import { listenTo } from './kit/listen.ts'
import { Boundary, lazyScreen } from './kit/Screen.tsx'
import { isUnreachable } from './kit/Problem.tsx'
import { useRoute } from './kit/route.ts'
import { DeskProvider, type Me } from './kit/useDesk.tsx'
import { forgetOthersTyped } from './kit/useTyped.ts'
import { Opening, SignIn, Unreachable } from './session/SignIn.tsx'
import { useSignInLink, type BroughtSession } from './session/sign-in-link.ts'
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
focusManager.setEventListener((onLook) => listenTo('focus', 'visibilitychange')(() => onLook()))

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

const SignInByLink = lazyScreen(async () => (await import('./other-screens.ts')).SignInByLink)
const SecondFactor = lazyScreen(async () => (await import('./other-screens.ts')).SecondFactor)
const Stranger = lazyScreen(async () => (await import('./other-screens.ts')).Stranger)
const Elsewhere = lazyScreen(async () => (await import('./other-screens.ts')).Elsewhere)
const OtherScreen = lazyScreen(async () => (await import('./other-screens.ts')).OtherScreen)

/** The organisers' page: signing in, and then a screen for each address. */
export function Desk(props: DeskProps) {
  return (
    <Boundary>
      <Entered {...props} />
    </Boundary>
  )
}

/** Shows the desk to an organiser who has signed in, and otherwise how to. */
function Entered({ auth, session, brought, signInIsElsewhere, version }: DeskProps) {
  const now = useSyncExternalStore(session.subscribe, session.now, session.now)
  const [untaken, setUntaken] = useState(brought)
  const link = useSignInLink() ?? untaken
  useHeadingAfterSignIn(now.step)
  if (signInIsElsewhere) return <Elsewhere />
  if (link) {
    const key = 'token_hash' in link ? link.token_hash : ''
    return <SignInByLink key={key} auth={auth} link={link} onLeave={() => setUntaken(undefined)} />
  }
  switch (now.step) {
    case 'opening':
      return <Opening />
    case 'out':
      return <SignIn auth={auth} notice={now.notice} />
    case 'factor':
      return <SecondFactor {...{ auth, session }} />
    case 'stranger':
      return <Stranger session={session} email={now.email} />
    case 'unreachable':
      return <Unreachable sentence={now.sentence} onAgain={session.askAgain} />
    case 'in':
      return (
        <Inside key={now.account} me={now}>
          <Frame {...{ session, version }}>
            <Shown {...{ auth, session }} />
          </Frame>
        </Inside>
      )
  }
}

/** Puts the focus on the heading once somebody has signed in: the form that had it is gone. */
function useHeadingAfterSignIn(step: ReturnType<WatchedSession['now']>['step']) {
  const isSigningIn = useRef(false)
  useEffect(() => {
    if (step === 'out' || step === 'factor') isSigningIn.current = true
    if (step !== 'in' || !isSigningIn.current) return
    isSigningIn.current = false
    focusHeading()
  }, [step])
}

/** The desk itself. What one person read or typed is dropped when they leave, before the next person comes. */
function Inside({ me, children }: { me: Me; children: ReactNode }) {
  const { account } = me
  const [queries] = useState(createQueries)
  useEffect(() => {
    forgetOthersTyped(account)
    return () => {
      queries.clear()
      announce('')
    }
  }, [queries, account])
  return (
    <QueryClientProvider client={queries}>
      <DeskProvider {...{ me, outcomeOf }}>{children}</DeskProvider>
    </QueryClientProvider>
  )
}

/** The screen of the route. */
function Shown({ auth, session }: Pick<DeskProps, 'auth' | 'session'>) {
  const route = useRoute()
  if (route.screen === 'list' || route.screen === 'application') return <Applications route={route} />
  return <OtherScreen {...{ route, auth, session }} />
}
