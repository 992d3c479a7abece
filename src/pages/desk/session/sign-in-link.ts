import type { EmailOtpType } from '@supabase/auth-js'

import { go, useFragment, unfilteredList } from '../data/route.ts'
import type { Notice } from './notices.ts'

/** A session from the fragment of a hosted project's link, which the visitor has not yet confirmed with a button. */
export interface LinkSession {
  refresh_token: string
}

/** The content of a hosted project's link: a session, or the reason why there is none. */
type LinkContent = { session: LinkSession } | { notice: Notice }

/** The token of a link that signs in or confirms an address. The server has not checked it yet. */
export interface SignInLink {
  token_hash: string
  type: EmailOtpType
}

/**
 * Reads the content of a link and removes it from the address, so that no token stays there or in the browser's history.
 *
 * @param isHosted Whether organisers sign in at a hosted project. Otherwise a session in a link is refused: our own server's
 *   links contain none, so it comes from somebody who wants others to act as them.
 * @returns The session or a notice; undefined if the address is not such a link.
 */
export function takeLinkContent(isHosted: boolean): LinkContent | undefined {
  const content = linkContentIn(location.hash)
  if (content) go(unfilteredList, { replace: true })
  return content && 'session' in content && !isHosted ? { notice: 'link failed' } : content
}

/** Parses a fragment. Its text is never shown, since anybody can write a link. */
function linkContentIn(fragment: string): LinkContent | undefined {
  const parameters = new URLSearchParams(fragment.slice(1))
  const refresh_token = parameters.get('refresh_token')
  if (refresh_token && parameters.get('access_token')) return { session: { refresh_token } }
  if (parameters.get('error_code') === 'otp_expired') return { notice: 'link used' }
  if (parameters.has('error') || parameters.has('error_code')) return { notice: 'link failed' }
  if (parameters.has('message') && parameters.has('sb')) return { notice: 'address confirmed' }
  return undefined
}

/** The token of the link in the address bar; undefined if there is none. */
export function useSignInLink(): SignInLink | undefined {
  const parameters = new URLSearchParams(useFragment().slice(1))
  const [token_hash, type] = [parameters.get('token_hash'), parameters.get('type')]
  return token_hash && type ? { token_hash, type } : undefined
}
