import type { AuthError } from '@supabase/auth-js'

// By name: the library's own checks would load all of it.

/** Whether the sign-in did not respond, so that the call can be retried. */
export function isRetryable(
  error: AuthError | null,
): error is AuthError & { name: 'AuthRetryableFetchError' } {
  return error?.name === 'AuthRetryableFetchError'
}

/** Whether another program responded in place of the sign-in. */
export function isForeignResponse(error: AuthError): boolean {
  return error.name === 'AuthUnknownError'
}
