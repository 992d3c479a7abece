import type { GoTrueClient } from '@supabase/auth-js'
import { focusManager, QueryClient } from '@tanstack/react-query'
import { Route, Router, Switch } from 'wouter'

import { ApplicationScreen } from './application/ApplicationScreen.tsx'
import { Boundary } from './Boundary.tsx'
import { DoorScreen } from './door/DoorScreen.tsx'
import { useFragmentPath, useFragmentSearch } from './fragment.ts'
import { Frame } from './Frame.tsx'
import { JudgeProvider } from './judging/JudgeProvider.tsx'
import { LettersPlace } from './letters/LettersPlace.tsx'
import { LettersScreen } from './letters/LettersScreen.tsx'
import { ListScreen } from './list/ListScreen.tsx'
import { isUnreachable } from './messages.ts'
import { AccountScreen } from './session/AccountScreen.tsx'
import type { BroughtSession } from './session/arrival.ts'
import { SignedIn } from './session/SignedIn.tsx'
import type { WatchedSession } from './session/watch-session.ts'

export interface DeskProps {
  auth: GoTrueClient
  /** Who is signed in. */
  session: WatchedSession
  /** What a hosted project's link brought. */
  brought: BroughtSession | undefined
  /** Whether organisers sign in at a hosted project, which this server knows only the database of. */
  signInIsElsewhere: boolean
}

/** Milliseconds after which what could not be read is asked for again. */
const tryAgain = 5_000

// Whoever has two windows side by side looks at one again without its having been hidden.
focusManager.setEventListener((onLook) => {
  const listener = () => onLook()
  addEventListener('focus', listener)
  addEventListener('visibilitychange', listener)
  return () => {
    removeEventListener('focus', listener)
    removeEventListener('visibilitychange', listener)
  }
})

/** What somebody read, until they leave: of one person nothing is kept for the next. */
const createQueries = () =>
  new QueryClient({
    defaultOptions: {
      // What got no answer is tried again where it is sent (client/session.ts).
      queries: {
        retry: false,
        refetchOnWindowFocus: false,
        // Without a connection it fails and says so, and is asked for again until it comes.
        networkMode: 'always',
        refetchOnReconnect: true,
        refetchInterval: ({ state }) => isUnreachable(state.error) && tryAgain,
      },
      // What cannot be sent now is not sent later: the library would keep it until there is a connection.
      mutations: { networkMode: 'always' },
    },
  })

/** The organisers' page: signing in, and then a screen for each address in the fragment. */
export function Desk({ auth, session, brought, signInIsElsewhere }: DeskProps) {
  return (
    <Boundary>
      <SignedIn {...{ auth, session, brought, createQueries }} isElsewhere={signInIsElsewhere}>
        {(me) => (
          <JudgeProvider callDesk={me.callDesk}>
            <Router hook={useFragmentPath} searchHook={useFragmentSearch} hrefs={(path) => `#${path}`}>
              <Frame session={session} email={me.email}>
                <Switch>
                  <Route path="/applications/:id">
                    {({ id }) => <ApplicationScreen key={id} id={id} callDesk={me.callDesk} />}
                  </Route>
                  <Route path="/letters">
                    <LettersScreen callDesk={me.callDesk} />
                  </Route>
                  <Route path="/letters/:screen/:name">
                    {({ screen }) => <LettersPlace screen={screen} callDesk={me.callDesk} />}
                  </Route>
                  <Route path="/door">
                    <DoorScreen callDesk={me.callDesk} />
                  </Route>
                  <Route path="/account">
                    <AccountScreen {...{ auth, session, me }} />
                  </Route>
                  <Route>
                    <ListScreen callDesk={me.callDesk} account={me.account} />
                  </Route>
                </Switch>
              </Frame>
            </Router>
          </JudgeProvider>
        )}
      </SignedIn>
    </Boundary>
  )
}
