import { isUnanswered } from '../../../client/auth-errors.ts'
import type { CallDesk } from '../../../client/desk.ts'
import { keptSession, needsFactor } from '../../../client/kept-session.ts'
import { SignedOutError, type Session } from '../../../client/session.ts'
import { createListeners } from '../kit/listen.ts'
import { isRefusal, sentenceOf, unforeseen } from '../kit/Problem.tsx'
import type { Me } from '../kit/useDesk.tsx'
import { sentenceOfSignIn, type Notice } from './sentences.ts'

/** How far somebody has come on the way into the desk. */
type SessionState =
  | { step: 'opening' }
  | { step: 'out'; notice: Notice | undefined }
  | { step: 'factor' }
  | { step: 'stranger'; email: string }
  | ({ step: 'in' } & Me)
  | { step: 'unreachable'; sentence: string }

/** The state of somebody's session. It changes by what they do here or in another tab, and by what happens to the session. */
export interface WatchedSession {
  now: () => SessionState
  subscribe: (listener: () => void) => () => void
  /** Asks the backend again. */
  askAgain: () => void
  /** Tells it that another window may have signed somebody in or out. */
  changedElsewhere: () => void
  /** Ends this session, or all sessions of the account. Gives a sentence that says why it goes on, where it does. */
  signOut: (scope: 'local' | 'global') => Promise<string | undefined>
}

const signedOut = { text: 'You are signed out.', isProblem: false }
const ended = { text: 'Your session has ended. Please sign in again.', isProblem: true }

/**
 * Watches who is signed in, and whether they are an organiser: the database says so, not the token.
 *
 * @param deskOf The desk's functions, called as the owner of an account.
 * @param onSignOut Called when somebody signed out here.
 * @param told What is said to whoever has to sign in.
 */
export function watchSession(
  { auth, authIsThere, read }: Session,
  deskOf: (account: string) => CallDesk,
  onSignOut: () => void,
  told?: Notice,
): WatchedSession {
  const { subscribe, tell } = createListeners()
  let notice = told
  let state: SessionState = keptSession() === null ? { step: 'out', notice } : { step: 'opening' }
  /** Ends the calls that the person at the desk has under way. */
  let stay: (Pick<Me, 'account' | 'callDesk'> & { end: () => void }) | undefined
  /** The access token that was asked about last. */
  let askedAbout = ''
  /** Counts the checks: of several at the same time, the last one's result counts. */
  let turn = 0
  let isAsking = false
  /** Whether it is ended here, by a button. */
  let isLeaving = false

  const set = (next: SessionState) => {
    if (JSON.stringify(next) === JSON.stringify(state)) return
    state = next
    if (next.step !== 'in') {
      stay?.end()
      stay = undefined
    }
    tell()
  }

  const ask = async () => {
    turn += 1
    const own = turn
    isAsking = true
    const next = await find(() => own === turn).catch((error: unknown): SessionState => ({
      step: 'unreachable',
      sentence: unforeseen(error),
    }))
    if (own !== turn || next === undefined) return
    isAsking = false
    // A check in the background must not remove the screen that somebody works on.
    if (next.step === 'unreachable' && state.step === 'in') return
    if (next.step === 'in') notice = undefined
    set(next)
  }

  const find = async (isLast: () => boolean): Promise<SessionState | undefined> => {
    const { session, error } = await read()
    if (!isLast()) return undefined
    if (isUnanswered(error)) return { step: 'unreachable', sentence: sentenceOfSignIn(error) }
    if (session === null) {
      if (state.step === 'in') notice ??= ended
      return { step: 'out', notice }
    }
    const { access_token: token, user } = session
    askedAbout = token
    if (needsFactor(session)) return { step: 'factor' }
    try {
      const { email } = await deskOf(user.id)('desk_me', {})
      if (!isLast()) return undefined
      return { step: 'in', email, account: user.id, callDesk: callDeskAs(user.id) }
    } catch (refusal) {
      // Meanwhile another window signed somebody else in, or nobody.
      if (refusal instanceof SignedOutError) return isLast() ? find(isLast) : undefined
      if (!isRefusal(refusal)) return { step: 'unreachable', sentence: sentenceOf(refusal) }
    }
    // The server is asked with the token, since it knows what happened elsewhere.
    const client = await auth()
    const level = await client.mfa.getAuthenticatorAssuranceLevel(token)
    if (!isLast()) return undefined
    if (isUnanswered(level.error)) {
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

  /** The same one for as long as they stay. */
  const callDeskAs = (account: string): CallDesk => {
    if (stay?.account === account) return stay.callDesk
    const leaving = new AbortController()
    const desk = deskOf(account)
    stay?.end()
    const own = {
      account,
      end: () => leaving.abort(new SignedOutError()),
      callDesk: (async (name, given, signal, pauses) => {
        const whileThere = signal ? AbortSignal.any([signal, leaving.signal]) : leaving.signal
        try {
          return await desk(name, given, whileThere, pauses)
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
  void authIsThere.then((client) => {
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
      // The sign-in's client hears of it by itself.
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
