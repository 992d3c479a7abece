import { isAuthRetryableFetchError, type GoTrueClient } from '@supabase/auth-js'

import type { CallDesk } from '../../../client/desk.ts'
import { isRefusal, sentenceOf, unforeseen } from '../messages.ts'
import { forgetTyped } from '../typed.ts'
import type { Arrival } from './arrival.ts'
import { linkHasEnded, sentenceOfSignIn, type Notice } from './sentences.ts'

/** How far somebody has come on the way into the desk. */
type Standing =
  | { step: 'opening' }
  | { step: 'out'; notice: Notice | undefined }
  | { step: 'factor' }
  | { step: 'stranger'; email: string }
  | { step: 'in'; email: string; account: string }
  | { step: 'unreachable'; sentence: string }

/** Where somebody stands, which changes by what they do here, in another tab, or what is done to their session. */
export interface WatchedStanding {
  now: () => Standing
  subscribe: (listener: () => void) => () => void
  /** Asks the backend again. */
  askAgain: () => void
  /** Ends this session or all of the account; gives why it goes on, in a sentence, where it does. */
  signOut: (scope: 'local' | 'global') => Promise<string | undefined>
  /** Calls the desk; a refusal has it asked whether the session still counts. */
  callDesk: CallDesk
}

const signedOut = { text: 'You are signed out.', isProblem: false }
const ended = { text: 'Your session has ended. Please sign in again.', isProblem: true }

/**
 * Watches who is signed in, and whether they are an organiser: the database says so, not the token.
 *
 * @param arrival What the address brought, if anything.
 */
export function watchStanding(auth: GoTrueClient, desk: CallDesk, arrival?: Arrival): WatchedStanding {
  const listeners = new Set<() => void>()
  let standing: Standing = { step: 'opening' }
  let arriving = arrival && 'session' in arrival ? arrival.session : undefined
  let notice = arrival && 'notice' in arrival ? arrival.notice : undefined
  /** The access token that was asked about last. */
  let askedAbout = ''
  /** Counts the questions: of several at once the last one's answer counts. */
  let turn = 0
  let isAsking = false
  /** Whether it is ended here, by a button. */
  let isLeaving = false

  const set = (next: Standing) => {
    if (JSON.stringify(next) === JSON.stringify(standing)) return
    standing = next
    for (const listener of listeners) listener()
  }

  const ask = async () => {
    turn += 1
    const own = turn
    isAsking = true
    const next = await find(() => own === turn).catch((error: unknown): Standing => ({
      step: 'unreachable',
      sentence: unforeseen(error),
    }))
    if (own !== turn || next === undefined) return
    isAsking = false
    // What was asked for in passing must not take away what somebody works on.
    if (next.step === 'unreachable' && standing.step === 'in') return
    if (next.step === 'in') notice = undefined
    set(next)
  }

  const find = async (isLast: () => boolean): Promise<Standing | undefined> => {
    if (arriving) {
      const tokens = arriving
      arriving = undefined
      const { error } = await auth.setSession(tokens)
      if (isAuthRetryableFetchError(error)) {
        arriving = tokens
        return { step: 'unreachable', sentence: sentenceOfSignIn(error) }
      }
      if (error) notice = { text: linkHasEnded, isProblem: true }
    }
    const { data, error } = await auth.getSession()
    if (!isLast()) return undefined
    if (isAuthRetryableFetchError(error)) return { step: 'unreachable', sentence: sentenceOfSignIn(error) }
    if (data.session === null) return { step: 'out', notice }
    const { access_token: token, user } = data.session
    askedAbout = token
    const known = await auth.mfa.getAuthenticatorAssuranceLevel()
    if (needsFactor(known.data)) return { step: 'factor' }
    try {
      const { email } = await desk('desk_me', {})
      return { step: 'in', email, account: user.id }
    } catch (refusal) {
      if (!isRefusal(refusal)) return { step: 'unreachable', sentence: sentenceOf(refusal) }
    }
    // With the token the server is asked, which knows what happened elsewhere.
    const level = await auth.mfa.getAuthenticatorAssuranceLevel(token)
    if (!isLast()) return undefined
    if (isAuthRetryableFetchError(level.error)) {
      return { step: 'unreachable', sentence: sentenceOfSignIn(level.error) }
    }
    if (level.error) {
      await auth.signOut({ scope: 'local' })
      return { step: 'out', notice }
    }
    return needsFactor(level.data) ? { step: 'factor' } : { step: 'stranger', email: user.email ?? '' }
  }

  auth.onAuthStateChange((event, session) => {
    if (event === 'INITIAL_SESSION') return
    if (session === null) {
      turn += 1
      isAsking = false
      askedAbout = ''
      notice ??= isLeaving ? signedOut : ended
      return set({ step: 'out', notice })
    }
    if (session.access_token === askedAbout && standing.step !== 'unreachable') return
    if (standing.step !== 'in' || standing.account !== session.user.id) set({ step: 'opening' })
    void ask()
  })
  void ask()

  return {
    now: () => standing,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    askAgain() {
      set({ step: 'opening' })
      void ask()
    },
    async signOut(scope) {
      isLeaving = true
      const { error } = await auth.signOut({ scope })
      isLeaving = false
      if (error) return `You are still signed in. ${sentenceOfSignIn(error)}`
      forgetTyped()
      return undefined
    },
    async callDesk(name, given, signal) {
      try {
        return await desk(name, given, signal)
      } catch (error) {
        if (isRefusal(error) && !isAsking) void ask()
        throw error
      }
    },
  }
}

function needsFactor(level: { currentLevel: string | null; nextLevel: string | null } | null) {
  return level?.nextLevel === 'aal2' && level.currentLevel !== 'aal2'
}
