import type { AuthError } from '@supabase/auth-js'

// Errors are recognised by name: importing the library's own checks would load the whole library.

/** Whether the call did not reach the sign-in server, so that it can be retried. */
export function isRetryable(error: unknown): error is AuthError & { name: 'AuthRetryableFetchError' } {
  return (error as Partial<Error> | null)?.name === 'AuthRetryableFetchError'
}

/** Whether a program other than the sign-in server responded, such as a proxy. */
export function isForeignResponse(error: AuthError): boolean {
  return error.name === 'AuthUnknownError'
}
