import type { EmailOtpType } from '@supabase/auth-js'

import { go, useFragment, wholeList } from '../kit/route.ts'
import type { Notice } from './sentences.ts'

/** A session that a hosted project's link brought in the fragment, and that nobody has confirmed by a button yet. */
export interface BroughtSession {
  access_token: string
  refresh_token: string
}

/** What such a link brought: a session, or the reason why there is none. */
type Arrival = { session: BroughtSession } | { notice: Notice }

/** A link to the desk that has not been used up yet. */
export interface SignInLink {
  token_hash: string
  type: EmailOtpType
}

const linkDidNotWork: Notice = {
  isProblem: true,
  text: 'Signing in by this link did not work. Please ask for a code instead.',
}

export const linkHasEnded: Notice = {
  isProblem: true,
  text: 'This link was used already, or its time is over. Please ask for a code instead.',
}

/** Said when one of the two links of a change of address was used. */
export const halfConfirmed: Notice = {
  isProblem: false,
  text: 'This address is confirmed. Please open the link in the mail to the other address, too.',
}

/**
 * Reads what a link brought and removes it from the address, so that no token stays there or in the browser's history.
 *
 * @param isHosted Whether organisers sign in at a hosted project. Our own server's links bring no session: a session in the
 *   address was then put there by somebody who wants others to act as them.
 */
export function takeArrival(isHosted: boolean): Arrival | undefined {
  const arrival = arrivalIn(location.hash)
  if (arrival) go(wholeList, { replace: true })
  return arrival && 'session' in arrival && !isHosted ? { notice: linkDidNotWork } : arrival
}

/** Reads what a fragment brings, if anything. Its own words are not shown, since anybody can write a link. */
function arrivalIn(fragment: string): Arrival | undefined {
  const said = new URLSearchParams(fragment.replace(/^#/, ''))
  const [access_token, refresh_token] = [said.get('access_token'), said.get('refresh_token')]
  if (access_token && refresh_token) return { session: { access_token, refresh_token } }
  if (said.get('error_code') === 'otp_expired') return { notice: linkHasEnded }
  if (said.has('error') || said.has('error_code')) return { notice: linkDidNotWork }
  if (said.has('message') && said.has('sb')) return { notice: halfConfirmed }
  return undefined
}

/** The link that opened the desk, as long as it is in the address. */
export function useSignInLink(): SignInLink | undefined {
  const said = new URLSearchParams(useFragment().replace(/^#/, ''))
  const [token_hash, type] = [said.get('token_hash'), said.get('type')]
  return token_hash && type ? { token_hash, type } : undefined
}
