import type { AuthError } from '@supabase/auth-js'

// By their names: the library's own checks would load all of it.

/** Whether the sign-in gave no answer, and may be asked again. */
export function isUnanswered(
  error: AuthError | null,
): error is AuthError & { name: 'AuthRetryableFetchError' } {
  return error?.name === 'AuthRetryableFetchError'
}

/** Whether somebody else answered in the sign-in's place. */
export function isForeign(error: AuthError): boolean {
  return error.name === 'AuthUnknownError'
}
