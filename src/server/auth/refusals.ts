import { HttpError } from '../http/errors.ts'

/** The refusal of a field, or a combination of fields, that the call does not accept. */
export function invalid(message: string, status = 400): HttpError {
  return new HttpError(status, 'validation_failed', message)
}

/** GoTrue's refusal of a request beyond a rate limit. */
export function tooManyRequests(): HttpError {
  return new HttpError(429, 'over_request_rate_limit', 'Request rate limit reached')
}

/** The refusal of a weak password. */
export class WeakPasswordError extends HttpError {
  readonly reasons: readonly string[]

  constructor(message: string, reasons: readonly string[]) {
    super(422, 'weak_password', message)
    this.reasons = reasons
  }
}

/** The refusal of an email that is requested too soon after the last one. */
export function tooSoon(seconds: number): HttpError {
  return new HttpError(
    429,
    'over_email_send_rate_limit',
    `For security purposes, you can only request this after ${seconds} seconds.`,
  )
}

/** The refusal of an email beyond an account's hourly limit. */
export function tooManyEmails(): HttpError {
  return new HttpError(429, 'over_email_send_rate_limit', 'email rate limit exceeded')
}

/** The refusal of a call that sends emails, if there is no mail server. */
export function emailIsOff(status: number): HttpError {
  return new HttpError(status, 'email_provider_disabled', 'Email logins are disabled')
}

/** The refusal of a call that needs a text message. */
export function phoneIsOff(text = 'Unsupported phone provider', status = 400): HttpError {
  return new HttpError(status, 'phone_provider_disabled', text)
}

/** The refusal of an address that another account has. */
export function emailExists(): HttpError {
  return new HttpError(422, 'email_exists', 'A user with this email address has already been registered')
}

/** The refusal of a code that is wrong, used or expired, or never existed. */
export function codeExpired(): HttpError {
  return new HttpError(403, 'otp_expired', 'Token has expired or is invalid')
}
