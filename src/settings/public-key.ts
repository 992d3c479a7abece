import { OperatorError } from './operator-error.ts'

/**
 * A public key, as it was given.
 *
 * @param name Where it was given: a setting or an option.
 * @throws {OperatorError} where it could not travel in a header, or is a secret one, which the message does not show.
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

/** The older of Supabase's keys are JWTs that name their role. */
function isSecret(key: string) {
  const payload = Buffer.from(key.split('.')[1] ?? '', 'base64url').toString()
  return key.trim().startsWith('sb_secret_') || /"role" *: *"service_role"/.test(payload)
}
