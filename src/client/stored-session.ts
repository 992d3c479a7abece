import { storageOf } from './storage.ts'

/** The key under which the auth client stores a session in the browser. */
export const sessionKey = 'unplugged-desk'

/** The parts of a stored session that are read here. */
export interface StoredSession {
  access_token: string
  user: { id: string; email?: string | undefined; factors?: { status: string }[] | undefined }
}

const storage = storageOf('localStorage')
/** Milliseconds before a token's expiry at which the client refreshes it. */
const refreshMargin = 90_000

/**
 * The session in this browser's store, which another window may have changed.
 *
 * @returns Null if nobody is signed in; undefined if only the auth client can decide that, because the session expires soon or is
 *   unreadable.
 */
export function storedSession(): StoredSession | null | undefined {
  const stored = storage.getItem(sessionKey)
  if (stored === null) return null
  try {
    const { access_token, expires_at, user } = JSON.parse(stored) as StoredSession & { expires_at: number }
    const isValid = expires_at * 1000 - Date.now() > refreshMargin && access_token && user.id
    return isValid ? { access_token, user } : undefined
  } catch {
    // The client removes what it cannot read.
    return undefined
  }
}

/** Whether the account has a verified second factor that this session has not used. */
export function needsSecondFactor({ access_token, user }: StoredSession): boolean {
  return (user.factors ?? []).some(({ status }) => status === 'verified') && levelOf(access_token) !== 'aal2'
}

/** The assurance level that a token states. The database checks it independently. */
function levelOf(token: string): unknown {
  const [, payload = ''] = token.split('.')
  return (JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))) as { aal?: unknown }).aal
}
