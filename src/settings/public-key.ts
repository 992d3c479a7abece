import { OperatorError } from './operator-error.ts'

/**
 * Checks a public key, and returns it unchanged.
 *
 * @param name The setting or option that it was given in.
 * @throws {OperatorError} if the key cannot be sent in a header, or is a secret key, which the message does not show.
 */
export function checkedPublicKey(name: string, given: string): string {
  if (isSecret(given)) {
    throw new OperatorError(
      `${name} (not shown) is a secret key, which may do everything, but should be the key that everybody may read: sb_publishable_… of a hosted project, or its older one, called anon.`,
    )
  }
  if (/^[\x21-\x7e]+$/.test(given)) return given
  throw new OperatorError(`${name} is "${given}" but should be letters, digits and signs without spaces.`)
}

/** Supabase's older keys are JWTs that name their role. */
function isSecret(key: string) {
  const payload = Buffer.from(key.split('.')[1] ?? '', 'base64url').toString()
  return key.trim().startsWith('sb_secret_') || /"role" *: *"service_role"/.test(payload)
}
