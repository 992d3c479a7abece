import { createHmac } from 'node:crypto'

/** Where deliveries go, and the secret that signs them. */
export interface Receiver {
  url: string
  secret: string | undefined
}

/** The result of one try. */
export interface DeliveryResult {
  delivered: boolean
  /** The HTTP status; null where there was no answer. */
  status: number | null
  /** The answer's beginning, or what went wrong. */
  text: string
  /** Milliseconds that the receiver asked to wait before the next try. */
  retryAfter?: number
}

/** Milliseconds for a try, until the receiver has answered with a status. */
const timeout = 15_000
/** Milliseconds for the beginning of the answer's body. */
const bodyTimeout = 1_000
const shownLength = 200

/**
 * Tries once to deliver something. Never throws: every failure is a result.
 *
 * The status alone decides: it is success also where the answer breaks off, or never ends.
 *
 * @param id The same on every try, so that the receiver can know a repeated one.
 * @param cancelled Ends the try early.
 * @param limit Milliseconds for the try.
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md for the
 *   headers; the body is form-encoded, as the receivers of forms expect it.
 */
export async function deliver(
  id: string,
  content: URLSearchParams,
  { url, secret }: Receiver,
  cancelled?: AbortSignal,
  limit = timeout,
): Promise<DeliveryResult> {
  const body = content.toString()
  const timestamp = String(Math.floor(Date.now() / 1000))
  const headers: Record<string, string> = {
    'content-type': 'application/x-www-form-urlencoded;charset=UTF-8',
    'user-agent': 'unplugged',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
  }
  if (secret !== undefined) headers['webhook-signature'] = sign(secret, `${id}.${timestamp}.${body}`)

  const { address, authorization } = withoutCredentials(url)
  if (authorization !== undefined) headers['authorization'] = authorization
  const signals = [AbortSignal.timeout(limit), ...(cancelled ? [cancelled] : [])]
  try {
    const response = await fetch(address, {
      method: 'POST',
      body,
      headers,
      redirect: 'manual',
      signal: AbortSignal.any(signals),
    })
    const result = { delivered: response.ok, status: response.status, text: await beginning(response) }
    const retryAfter = parseRetryAfter(response.headers)
    return retryAfter === undefined ? result : { ...result, retryAfter }
  } catch (error) {
    return { delivered: false, status: null, text: reasonOf(error) }
  }
}

/** The signature of scheme `v1`: HMAC-SHA256 with the secret's bytes. */
function sign(secret: string, content: string) {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`
}

/** `fetch` accepts no user and password in an address, so they are sent as basic authentication. */
function withoutCredentials(url: string) {
  const address = new URL(url)
  const { username, password } = address
  address.username = ''
  address.password = ''
  if (username === '' && password === '') return { address }
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { address, authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }
}

/** Reads only as much of an answer as is shown, and as comes in time. */
async function beginning({ body }: Response) {
  if (!body) return ''
  let text = ''
  const reader = body.getReader()
  const late = setTimeout(() => void reader.cancel().catch(() => {}), bodyTimeout)
  const decoder = new TextDecoder()
  try {
    while (text.length < shownLength) {
      const { done, value } = await reader.read()
      if (done) break
      text += decoder.decode(value, { stream: true })
    }
  } catch {
    // The answer broke off. The part that came is shown.
  } finally {
    clearTimeout(late)
    await reader.cancel().catch(() => {})
  }
  return text.slice(0, shownLength)
}

/** `Retry-After` in either of its forms: seconds, or a date by the receiver's clock. */
function parseRetryAfter(headers: Headers) {
  const header = headers.get('retry-after')
  if (header === null) return undefined
  const there = Date.parse(headers.get('date') ?? '') || Date.now()
  const pause = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - there
  return pause > 0 ? pause : undefined
}

function reasonOf(error: unknown) {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return cause instanceof Error ? cause.message || cause.name : String(cause)
}
