import { codeOf } from '../../../application/digits.ts'

/** The parameters of RFC 6238 that every authenticator supports: six digits, SHA-1, 30 seconds. */
const parameters = { algorithm: 'SHA1', digits: 6, period: 30 }

/**
 * Creates the secret of a second factor.
 *
 * @param issuer The name that an authenticator shows above the codes.
 * @param label The account that the codes are for.
 * @returns The secret in base32, the `otpauth` address, and its QR code as SVG.
 */
export async function newSecret(issuer: string, label: string) {
  const [{ TOTP, Secret }, { renderSVG }] = await Promise.all([import('otpauth'), import('uqr')])
  const secret = new Secret({ size: 20 })
  const uri = new TOTP({ ...parameters, issuer, label, secret }).toString()
  return { secret: secret.base32, uri, qrCode: `<?xml version="1.0" encoding="utf-8"?>${renderSVG(uri)}` }
}

/**
 * Checks a code. The codes before and after the current one are accepted too, since clocks differ.
 *
 * @param at Milliseconds since 1970.
 * @returns The number of the 30-second period whose code this is; undefined for a wrong code.
 * @see https://www.rfc-editor.org/rfc/rfc6238
 */
export async function checkCode(secret: string, typed: string, at = Date.now()): Promise<number | undefined> {
  const code = codeOf(typed)
  // The library throws for six characters of more than six bytes.
  if (!/^[0-9]{6}$/.test(code)) return undefined
  const { TOTP, Secret } = await import('otpauth')
  const totp = new TOTP({ ...parameters, secret: Secret.fromBase32(secret) })
  const delta = totp.validate({ token: code, timestamp: at, window: 1 })
  return delta === null ? undefined : totp.counter({ timestamp: at }) + delta
}
