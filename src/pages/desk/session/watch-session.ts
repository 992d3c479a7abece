import { isRetryable } from '../../../client/auth-errors.ts'
import type { CallDesk } from '../../../client/desk.ts'
import { storedSession, needsSecondFactor } from '../../../client/stored-session.ts'
import { SignedOutError, type Session } from '../../../client/session.ts'
import { createListeners } from '../kit/listen.ts'
import { isRefusal, sentenceOf, reportUnexpected } from '../kit/Problem.tsx'
import type { Me } from '../kit/useDesk.tsx'
import { sentenceOfSignIn, type Notice } from './sentences.ts'

/** The step of signing in. */
type SessionState =
  | { step: 'opening' }
  | { step: 'out'; notice: Notice | undefined }
  | { step: 'factor' }
  | { step: 'stranger'; email: string }
  | ({ step: 'in' } & Me)
  | { step: 'unreachable'; sentence: string }

/** The observable state of the session. It changes by actions here and in other tabs, and when the session ends. */
export interface WatchedSession {
  now: () => SessionState
  subscribe: (listener: () => void) => () => void
  /** Checks the session with the backend again. */
  askAgain: () => void
  /** Call it when another window may have changed the session. */
  changedElsewhere: () => void
  /** Ends this session, or all sessions of the account. Returns a sentence if that failed. */
  signOut: (scope: 'local' | 'global') => Promise<string | undefined>
}

const signedOut = { text: 'You are signed out.', isProblem: false }
const ended = { text: 'Your session has ended. Please sign in again.', isProblem: true }

/**
 * Watches who is signed in, and whether they are an organiser. The database decides that, not the token.
 *
 * @param deskOf Creates the calls of the desk for an account.
 * @param onSignOut Called after somebody signed out here.
 * @param told The first notice on the sign-in form.
 */
export function watchSession(
  { auth, authLoaded, read }: Session,
  deskOf: (account: string) => CallDesk,
  onSignOut: () => void,
  told?: Notice,
): WatchedSession {
  const { subscribe, notify } = createListeners()
  let notice = told
  let state: SessionState = storedSession() === null ? { step: 'out', notice } : { step: 'opening' }
  /** The calls of the current organiser, and a function that aborts them. */
  let stay: (Pick<Me, 'account' | 'callDesk'> & { end: () => void }) | undefined
  /** The access token of the last check. */
  let askedAbout = ''
  /** Number of checks. If several overlap, only the last one counts. */
  let turn = 0
  let isAsking = false
  /** Whether a button here is ending the session. */
  let isLeaving = false

  const set = (next: SessionState) => {
    if (JSON.stringify(next) === JSON.stringify(state)) return
    state = next
    if (next.step !== 'in') {
      stay?.end()
      stay = undefined
    }
    notify()
  }

  const ask = async () => {
    turn += 1
    const own = turn
    isAsking = true
    const next = await find(() => own === turn).catch((error: unknown): SessionState => ({
      step: 'unreachable',
      sentence: reportUnexpected(error),
    }))
    if (own !== turn || next === undefined) return
    isAsking = false
    // A failed background check must not remove the screen in use.
    if (next.step === 'unreachable' && state.step === 'in') return
    if (next.step === 'in') notice = undefined
    set(next)
  }

  const find = async (isLast: () => boolean): Promise<SessionState | undefined> => {
    const { session, error } = await read()
    if (!isLast()) return undefined
    if (isRetryable(error)) return { step: 'unreachable', sentence: sentenceOfSignIn(error) }
    if (session === null) {
      if (state.step === 'in') notice ??= ended
      return { step: 'out', notice }
    }
    const { access_token: token, user } = session
    askedAbout = token
    if (needsSecondFactor(session)) return { step: 'factor' }
    try {
      const { email } = await deskOf(user.id)('desk_me', {})
      if (!isLast()) return undefined
      return { step: 'in', email, account: user.id, callDesk: callDeskAs(user.id) }
    } catch (refusal) {
      // Another window has signed in somebody else, or signed out.
      if (refusal instanceof SignedOutError) return isLast() ? find(isLast) : undefined
      if (!isRefusal(refusal)) return { step: 'unreachable', sentence: sentenceOf(refusal) }
    }
    // Asks the server with the token, since factors may have changed elsewhere.
    const client = await auth()
    const level = await client.mfa.getAuthenticatorAssuranceLevel(token)
    if (!isLast()) return undefined
    if (isRetryable(level.error)) {
      return { step: 'unreachable', sentence: sentenceOfSignIn(level.error) }
    }
    if (level.error) {
      const present = await read()
      if (present.session?.access_token !== token) return isLast() ? find(isLast) : undefined
      await client.signOut({ scope: 'local' })
      return { step: 'out', notice }
    }
    const { currentLevel, nextLevel } = level.data
    const lacksFactor = nextLevel === 'aal2' && currentLevel !== 'aal2'
    return lacksFactor ? { step: 'factor' } : { step: 'stranger', email: user.email ?? '' }
  }

  /** Returns the same function until the account changes. */
  const callDeskAs = (account: string): CallDesk => {
    if (stay?.account === account) return stay.callDesk
    const leaving = new AbortController()
    const desk = deskOf(account)
    stay?.end()
    const own = {
      account,
      end: () => leaving.abort(new SignedOutError()),
      callDesk: (async (name, args, signal, delays) => {
        const whileThere = signal ? AbortSignal.any([signal, leaving.signal]) : leaving.signal
        try {
          return await desk(name, args, whileThere, delays)
        } catch (error) {
          if (isRefusal(error) && stay === own && !isAsking) void ask()
          throw error
        }
      }) satisfies CallDesk,
    }
    stay = own
    return own.callDesk
  }

  let isAuthThere = false
  void authLoaded.then((client) => {
    isAuthThere = true
    client.onAuthStateChange((event, session) => {
      if (event === 'INITIAL_SESSION') return
      if (session === null) {
        turn += 1
        isAsking = false
        askedAbout = ''
        notice ??= isLeaving ? signedOut : ended
        return set({ step: 'out', notice })
      }
      if (session.access_token === askedAbout && state.step !== 'unreachable') return
      if (state.step !== 'in' || state.account !== session.user.id) set({ step: 'opening' })
      void ask()
    })
  })
  void ask()

  return {
    now: () => state,
    subscribe,
    askAgain() {
      set({ step: 'opening' })
      void ask()
    },
    changedElsewhere() {
      // A loaded sign-in client detects this automatically.
      if (!isAuthThere) void ask()
    },
    async signOut(scope) {
      const client = await auth()
      isLeaving = true
      const { error } = await client.signOut({ scope })
      isLeaving = false
      if (error) return `You are still signed in. ${sentenceOfSignIn(error)}`
      onSignOut()
      return undefined
    },
  }
}
