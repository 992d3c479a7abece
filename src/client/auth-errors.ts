import type { AuthError } from '@supabase/auth-js'

// Errors are recognised by name: importing the library's own checks would load the whole library.

/** Whether the sign-in server did not respond, so that the call can be retried. */
export function isRetryable(
  error: AuthError | null,
): error is AuthError & { name: 'AuthRetryableFetchError' } {
  return error?.name === 'AuthRetryableFetchError'
}

/** Whether another program responded in place of the sign-in server. */
export function isForeignResponse(error: AuthError): boolean {
  return error.name === 'AuthUnknownError'
}
