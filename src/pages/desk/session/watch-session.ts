import { isRetryable } from '../../../client/auth-errors.ts'
import { createDesk, type CallDesk } from '../../../client/desk.ts'
import { RefusedCall } from '../../../client/rest.ts'
import { storedSession, needsSecondFactor } from '../../../client/stored-session.ts'
import { SignedOutError, type Session } from '../../../client/session.ts'
import { noteConnection } from '../kit/connection.ts'
import { createListeners } from '../kit/listen.ts'
import { isRefusal, sentenceOf, reportUnexpected } from '../kit/Problem.tsx'
import type { Me } from '../data/useDesk.tsx'
import type { Notice } from './notices.ts'

/** The step of signing in. A `stranger` has signed in but is not an organiser. */
type SessionState =
  | { step: 'opening' }
  | { step: 'out'; notice: Notice | undefined }
  | { step: 'factor' }
  | { step: 'stranger'; email: string }
  | ({ step: 'in' } & Me)
  | { step: 'unreachable'; error: unknown }

/** The observable state of the session. It changes by actions here and in other tabs, and when the session ends. */
export interface WatchedSession {
  state: () => SessionState
  subscribe: (listener: () => void) => () => void
  /** Checks the session with the backend again. */
  recheck: () => void
  /** Checks the session after another window may have changed it. */
  changedElsewhere: () => void
  /** Ends this session, or all sessions of the account. Returns a sentence if that failed. */
  signOut: (scope: 'local' | 'global') => Promise<string | undefined>
}

/**
 * Watches who is signed in, and whether they are an organiser. The database decides that, not the token.
 *
 * @param onSignOut Called after somebody signed out here.
 * @param firstNotice The first notice on the sign-in form.
 */
export function watchSession(
  { auth, authLoaded, read, callAs }: Session,
  onSignOut: () => void,
  firstNotice?: Notice,
): WatchedSession {
  const { subscribe, notify } = createListeners()
  let notice = firstNotice
  let state: SessionState = storedSession() === null ? { step: 'out', notice } : { step: 'opening' }
  /** The calls of the current organiser, and a function that aborts them. */
  let current: (Pick<Me, 'account' | 'callDesk'> & { end: () => void }) | undefined
  /** The access token of the last check. */
  let checkedToken = ''
  /** The number of the last check. If several checks overlap, only the last one counts. */
  let lastCheck = 0
  let isChecking = false
  /** Whether a button here is ending the session. */
  let isSigningOut = false

  const set = (next: SessionState) => {
    if (JSON.stringify(next) === JSON.stringify(state)) return
    state = next
    if (next.step !== 'in') {
      current?.end()
      current = undefined
    }
    notify()
  }

  const check = async () => {
    lastCheck += 1
    const ownCheck = lastCheck
    isChecking = true
    const next = await findState(() => ownCheck === lastCheck).catch((error: unknown): SessionState => ({
      step: 'unreachable',
      error: new Error(reportUnexpected(error)),
    }))
    if (ownCheck !== lastCheck || next === undefined) return
    isChecking = false
    // A failed background check must not remove the screen in use.
    if (next.step === 'unreachable' && state.step === 'in') return
    if (next.step === 'in') notice = undefined
    set(next)
  }

  const findState = async (isLatest: () => boolean): Promise<SessionState | undefined> => {
    const { session, error } = await read()
    if (!isLatest()) return undefined
    if (isRetryable(error)) return { step: 'unreachable', error }
    if (session === null) {
      if (state.step === 'in') notice ??= 'session ended'
      return { step: 'out', notice }
    }
    const { access_token: token, user } = session
    checkedToken = token
    if (needsSecondFactor(session)) return { step: 'factor' }
    try {
      const { email, reader } = await createDesk(callAs(user.id), { onOutcome: noteConnection })(
        'desk_me',
        {},
      )
      if (!isLatest()) return undefined
      return { step: 'in', email, isReader: reader === true, account: user.id, callDesk: callDeskAs(user.id) }
    } catch (refusal) {
      // Another window has signed in somebody else, or signed out.
      if (refusal instanceof SignedOutError) return isLatest() ? findState(isLatest) : undefined
      if (!isRefusal(refusal)) {
        const sentence = sentenceOf(refusal)
        const isOwn = !(refusal instanceof RefusedCall) || sentence !== refusal.message
        return { step: 'unreachable', error: isOwn ? refusal : new Error(`The server said: ${sentence}`) }
      }
    }
    // Asks the server with the token, since the account's factors may have changed elsewhere.
    const client = await auth()
    const level = await client.mfa.getAuthenticatorAssuranceLevel(token)
    if (!isLatest()) return undefined
    if (isRetryable(level.error)) {
      return { step: 'unreachable', error: level.error }
    }
    if (level.error) {
      const present = await read()
      if (present.session?.access_token !== token) return isLatest() ? findState(isLatest) : undefined
      await client.signOut({ scope: 'local' })
      return { step: 'out', notice }
    }
    const { currentLevel, nextLevel } = level.data
    const lacksFactor = nextLevel === 'aal2' && currentLevel !== 'aal2'
    return lacksFactor ? { step: 'factor' } : { step: 'stranger', email: user.email ?? '' }
  }

  /** Returns the same function until the account changes. */
  const callDeskAs = (account: string): CallDesk => {
    if (current?.account === account) return current.callDesk
    const abortController = new AbortController()
    current?.end()
    const organiser = {
      account,
      end: () => abortController.abort(new SignedOutError()),
      callDesk: createDesk(callAs(account), {
        signal: abortController.signal,
        onOutcome(error) {
          noteConnection(error)
          if (isRefusal(error) && current === organiser && !isChecking) void check()
        },
      }),
    }
    current = organiser
    return organiser.callDesk
  }

  let isAuthLoaded = false
  void authLoaded.then((client) => {
    isAuthLoaded = true
    client.onAuthStateChange((event, session) => {
      if (event === 'INITIAL_SESSION') return
      if (session === null) {
        lastCheck += 1
        isChecking = false
        checkedToken = ''
        // A refused link ends nothing.
        if (state.step !== 'out') notice ??= isSigningOut ? 'signed out' : 'session ended'
        return set({ step: 'out', notice })
      }
      if (session.access_token === checkedToken && state.step !== 'unreachable') return
      if (state.step !== 'in' || state.account !== session.user.id) set({ step: 'opening' })
      void check()
    })
  })
  void check()

  return {
    state: () => state,
    subscribe,
    recheck() {
      set({ step: 'opening' })
      void check()
    },
    changedElsewhere() {
      // A loaded auth client detects this automatically.
      if (!isAuthLoaded) void check()
    },
    async signOut(scope) {
      const client = await auth()
      isSigningOut = true
      const { error } = await client.signOut({ scope })
      isSigningOut = false
      if (error) {
        // Loaded only now, since the list does not need these sentences.
        const { sentenceOfSignIn } = await import('./sentences.ts')
        return `You are still signed in. ${sentenceOfSignIn(error)}`
      }
      onSignOut()
      return undefined
    },
  }
}
