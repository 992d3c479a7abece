import { createHmac } from 'node:crypto'
import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import https from 'node:https'

import { abortAfter } from '../abort-after.ts'

/** The address that deliveries are posted to, and the secret that signs them. */
export interface Receiver {
  url: string
  secret: string | undefined
}

/** The result of one try. */
export interface DeliveryResult {
  delivered: boolean
  /** The HTTP status; null without a response. */
  status: number | null
  /** Whether it was sent and got no response, so that it may have arrived. False if no connection was made. */
  isUncertain?: boolean
  /** The beginning of the response, or what went wrong. */
  text: string
  /** Milliseconds that the receiver asked to wait before the next try. */
  retryAfter?: number
}

/** Milliseconds for a try, until the response's status. */
const defaultTimeout = 15_000
/** Milliseconds for the beginning of the response's body. */
const bodyTimeout = 1_000
/** The maximum number of characters of a response that are saved and logged. */
const maxTextLength = 200

/**
 * Tries once to deliver something. Never throws: every failure is a result.
 *
 * Only the status decides: a 2xx is success even if the body breaks off or never ends. Redirects are not followed.
 *
 * @param id The same on every try, so that the receiver recognises duplicates.
 * @param signal Aborts the try.
 * @param timeout Timeout of the try, in milliseconds.
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md for the headers; the body is
 *   form-encoded, as receivers of forms expect.
 */
export async function deliver(
  id: string,
  content: URLSearchParams,
  { url, secret }: Receiver,
  signal?: AbortSignal,
  timeout = defaultTimeout,
): Promise<DeliveryResult> {
  const body = content.toString()
  const timestamp = String(Math.floor(Date.now() / 1000))
  const headers: Record<string, string> = {
    accept: '*/*',
    'content-type': 'application/x-www-form-urlencoded;charset=UTF-8',
    'user-agent': 'unplugged',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
  }
  if (secret !== undefined) headers['webhook-signature'] = sign(secret, `${id}.${timestamp}.${body}`)

  const ending = abortAfter(timeout, signal)
  let isUncertain = false
  try {
    const response = await post(url, { headers, body, signal: ending.signal }, () => {
      isUncertain = true
    })
    const { statusCode: status = 0 } = response
    const delivered = status >= 200 && status < 300
    const result = { delivered, status, text: await readBeginning(response) }
    const retryAfter = parseRetryAfter(response.headers)
    return retryAfter === undefined ? result : { ...result, retryAfter }
  } catch (error) {
    return { delivered: false, status: null, isUncertain, text: reasonOf(error) }
  } finally {
    ending.clear()
  }
}

/** The signature of scheme `v1`: HMAC-SHA256 with the secret's bytes. */
function sign(secret: string, content: string) {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`
}

/**
 * Sends the request only when the connection is ready, so that nothing was sent if it fails earlier. `fetch` does not report when
 * the connection is ready, and some of its errors may occur before or after that. A user and password in the address are sent as
 * basic authentication.
 *
 * @param onSend Called before the first byte is sent.
 */
function post(
  url: string,
  { body, ...options }: { headers: Record<string, string>; body: string; signal: AbortSignal },
  onSend: () => void,
): Promise<IncomingMessage> {
  const isEncrypted = new URL(url).protocol === 'https:'
  return new Promise((resolve, reject) => {
    const request = (isEncrypted ? https : http).request(url, { method: 'POST', ...options })
    const send = () => {
      onSend()
      request.end(body)
    }
    request.on('response', resolve).on('error', reject)
    // Rejects if the connection is closed with neither a response nor an error, such as after a switch of protocols.
    request.on('close', () => reject(new Error('the connection was closed without a response')))
    request.on('socket', (socket) => {
      if (request.reusedSocket) send()
      else socket.once(isEncrypted ? 'secureConnect' : 'connect', send)
    })
  })
}

/** Reads the beginning of a body, as far as it arrives in time. */
async function readBeginning(response: IncomingMessage) {
  let text = ''
  const timer = setTimeout(() => response.destroy(), bodyTimeout)
  try {
    for await (const part of response.setEncoding('utf8')) {
      text += String(part)
      if (text.length >= maxTextLength) break
    }
  } catch {
    // The response broke off: return the part that arrived.
  } finally {
    clearTimeout(timer)
  }
  return text.slice(0, maxTextLength)
}

/** Milliseconds from `Retry-After`, in seconds or as a date by the receiver's clock. */
function parseRetryAfter({ 'retry-after': header, date }: IncomingHttpHeaders) {
  if (header === undefined) return undefined
  const receiverTime = Date.parse(date ?? '') || Date.now()
  const pause = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - receiverTime
  return pause > 0 ? pause : undefined
}

function reasonOf(error: unknown) {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(cause instanceof Error)) return String(cause)
  // An error of a connection to several IP addresses has no message.
  return cause.message || ('code' in cause ? String(cause.code) : cause.name)
}
