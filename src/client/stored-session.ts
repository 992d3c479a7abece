import { storageOf } from './storage.ts'

/** The key under which the auth client stores a session in the browser. */
export const sessionKey = 'unplugged-desk'

/** The parts of a stored session that are read here. */
export interface StoredSession {
  access_token: string
  /** When the token expires, in seconds since 1970, counted by this browser's clock from the arrival of the session. */
  expires_at?: number | undefined
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
    const session = JSON.parse(stored) as StoredSession & { expires_at: number }
    const isValid = session.expires_at * 1000 - Date.now() > refreshMargin
    return isValid && session.access_token && session.user.id ? session : undefined
  } catch {
    // The client removes what it cannot read.
    return undefined
  }
}

/** Makes the next read refresh the stored session, unless another one than that of this access token is stored by now. */
export function expireSession(token: string): void {
  const stored = storedSession()
  if (stored?.access_token === token)
    storage.setItem(sessionKey, JSON.stringify({ ...stored, expires_at: 1 }))
}

/** Whether the account has a verified second factor that this session has not used. */
export function needsSecondFactor({ access_token, user }: StoredSession): boolean {
  return (
    user.factors?.some(({ status }) => status === 'verified') === true &&
    claimsOf(access_token).aal !== 'aal2'
  )
}

/** The claims of a token: its assurance level, and when it was made and expires by the server's clock. Servers check them. */
export function claimsOf(token: string): { aal?: unknown; iat: number; exp: number } {
  const [, payload = ''] = token.split('.')
  return JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))) as ReturnType<typeof claimsOf>
}
