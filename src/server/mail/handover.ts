import { Readable } from 'node:stream'
import type SMTPConnection from 'nodemailer/lib/smtp-connection'

import { abortAfter } from '../abort-after.ts'
import type { MailServer } from '../../settings/mail-settings.ts'
import { causeOf, mailTimeout, smtpOptions } from './smtp-options.ts'
import type { Mail } from './compose.ts'

/** The result of a handover. `done`, `failed` and `waiting` are the states that a delivery gets. */
export type HandoverResult = {
  /** The mail server's last code; null if it sent none. */
  code: number | null
} & (
  | { result: 'done' }
  /** Permanently refused because of the letter. `reply` may quote an address. */
  | { result: 'failed'; reply: string }
  /** Failed this time. `isUncertain` means that the letter was being sent and got no reply, so it may have arrived. */
  | { result: 'waiting'; reply: string; isUncertain: boolean }
  /**
   * Failed, probably for another reason than the letter. `problem` is our own text, without any address. `isClosing` means that
   * the mail server closed the connection as its reply to the recipient or to the letter. Either may be the cause after all.
   */
  | { result: 'unavailable'; problem: string; cause: string | undefined; isClosing: boolean }
  /** Aborted before any of the letter was sent. */
  | { result: 'aborted' }
)

/** Whether the mail server refused only this email, permanently or for now, and may accept others. */
export function isAboutMail({ result, code }: HandoverResult): boolean {
  return result === 'failed' || (result === 'waiting' && code !== null)
}

/** A connection to a mail server, which is opened for the first letter and reused for the next ones, one at a time. */
export interface MailConnection {
  /**
   * Hands a letter over. Never throws: every failure is a result.
   *
   * @param cancelled Aborts the handover.
   */
  handOver(mail: Mail, cancelled?: AbortSignal): Promise<HandoverResult>
  /** Closes the connection with QUIT. */
  close(): Promise<void>
}

/** Milliseconds that a connection stays open for another letter. */
const idleTime = 15_000
/** Milliseconds to wait for the reply to QUIT. */
const quitGrace = 500
/** The maximum number of characters of a mail server's reply that are saved. */
const maxReplyLength = 300

/** A failure as nodemailer reports it. */
interface SmtpFailure {
  code?: string
  /** The command whose reply was a failure; `CONN` if the connection itself failed, before or after a command. */
  command?: string
  responseCode?: number
  response?: string
}

/** The progress of a handover. */
interface Progress {
  /** `letter` once the mail server asked for the letter. */
  stage: 'connection' | 'envelope' | 'letter'
  connection: SMTPConnection | undefined
}

/**
 * Creates a connection to a mail server. It is opened when the first letter is handed over.
 *
 * @param timeout Timeout of a handover, in milliseconds; shorter than a claim's lease.
 */
export function createMailConnection(mailServer: MailServer, timeout = mailTimeout): MailConnection {
  let idleConnection: SMTPConnection | undefined
  let idleTimer: NodeJS.Timeout | undefined

  /** Tries once. Keeps the connection open if it can be reused. */
  const tryOnce = async (mail: Mail, signal: AbortSignal, reused: SMTPConnection | undefined) => {
    const progress: Progress = { stage: 'connection', connection: reused }
    try {
      const connection = reused ?? (await connect(mailServer, signal, (made) => (progress.connection = made)))
      const code = await send(connection, mail, signal, progress)
      idleConnection = connection
      return { result: 'done', code } as const
    } catch (error) {
      const handover = classify(error ?? {}, progress, signal)
      const { connection } = progress
      if (connection === undefined) return handover
      if (isAboutMail(handover) && (await reset(connection, signal))) idleConnection = connection
      else connection.close()
      return handover
    }
  }

  const takeConnection = () => {
    clearTimeout(idleTimer)
    const connection = idleConnection
    idleConnection = undefined
    return connection?.destroyed === false ? connection : undefined
  }

  return {
    async handOver(mail, cancelled) {
      const { signal, clear } = abortAfter(timeout, cancelled)
      const reused = takeConnection()
      let handover = await tryOnce(mail, signal, reused)
      // A new connection may help: the mail server may have closed the reused one, or may limit the letters over one connection.
      if (reused !== undefined && handover.result === 'unavailable' && !signal.aborted) {
        handover = await tryOnce(mail, signal, undefined)
      }
      clear()
      const wasNotSent =
        handover.result === 'unavailable' || (handover.result === 'waiting' && !handover.isUncertain)
      if (cancelled?.aborted === true && wasNotSent && handover.code === null) {
        return { result: 'aborted', code: null }
      }
      clearTimeout(idleTimer)
      idleTimer = setTimeout(() => void quit(takeConnection()), idleTime).unref()
      return handover
    },
    close: () => quit(takeConnection()),
  }
}

/** Begins one step of the SMTP dialogue and waits for it. Rejects if the connection is lost or the signal aborts. */
async function step<T>(
  connection: SMTPConnection,
  signal: AbortSignal,
  begin: (done: (error: unknown, value?: T) => void) => void,
): Promise<T | undefined> {
  let stopWaiting = () => {}
  try {
    return await new Promise<T | undefined>((resolve, reject) => {
      const fail = (error: unknown) => reject(error)
      // If a reply ended the connection, nodemailer reports the reply only after this event.
      const onEnd = () => setImmediate(() => fail(new Error('the connection ended')))
      const onAbort = () => fail(new Error('it was broken off'))
      stopWaiting = () => {
        connection.off('error', fail)
        connection.off('end', onEnd)
        signal.removeEventListener('abort', onAbort)
      }
      connection.on('error', fail)
      connection.on('end', onEnd)
      signal.addEventListener('abort', onAbort)
      if (signal.aborted) return onAbort()
      begin((error, value) => (error ? fail(error) : resolve(value)))
    })
  } finally {
    stopWaiting()
  }
}

async function connect(mailServer: MailServer, signal: AbortSignal, onMade: (made: SMTPConnection) => void) {
  const { default: Connection } = await import('nodemailer/lib/smtp-connection')
  const connection = new Connection(smtpOptions(mailServer))
  onMade(connection)
  // Ignore errors while no step waits for them.
  connection.on('error', () => {})
  await step(connection, signal, (done) => connection.connect(done))
  const { user, password } = mailServer
  if (user !== '' && connection.allowsAuth) {
    const credentials = { credentials: { user, pass: password } }
    await step(connection, signal, (done) => connection.login(credentials, done))
  }
  return connection
}

/** The result of `greet`. */
export type Greeting =
  | { secure: boolean; signedIn: boolean }
  /** `problem` is our own text; `cause` is the operating system's, if the mail server sent no reply. */
  | { problem: string; cause: string | undefined }

/**
 * Connects and logs in to a mail server as a handover does, and quits before handing anything over.
 *
 * @param timeout Timeout in milliseconds.
 */
export async function greet(mailServer: MailServer, timeout: number): Promise<Greeting> {
  const signal = AbortSignal.timeout(timeout)
  let connection: SMTPConnection | undefined
  try {
    connection = await connect(mailServer, signal, (made) => (connection = made))
    const { secure, authenticated } = connection
    await quit(connection)
    return { secure, signedIn: authenticated }
  } catch (error) {
    connection?.close()
    return { problem: problemOf(error ?? {}, 'connection', signal.aborted), cause: causeOf(error) }
  }
}

/** Sends an email and returns the last reply's code. */
async function send(
  connection: SMTPConnection,
  { from, to, bytes }: Mail,
  signal: AbortSignal,
  progress: Progress,
) {
  progress.stage = 'envelope'
  // Clear the last reply, to see afterwards whether MAIL FROM got one. The library offers no other way.
  connection.lastServerResponse = false
  // The library reads this only when the mail server has asked for the letter.
  const message = new Readable({
    read() {
      progress.stage = 'letter'
      this.push(bytes)
      this.push(null)
    },
  })
  const info = await step<{ response: string }>(connection, signal, (done) =>
    connection.send({ from, to: [to] }, message, (error, sent) => done(error, sent)),
  )
  return codeOf(info?.response)
}

/** Makes a connection ready for the next letter. Returns whether that worked. */
async function reset(connection: SMTPConnection, signal: AbortSignal) {
  try {
    await step(connection, signal, (done) => connection.reset(done))
    return true
  } catch {
    return false
  }
}

async function quit(connection: SMTPConnection | undefined) {
  if (connection === undefined || connection.destroyed) return
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => connection.close(), quitGrace)
    connection.once('end', () => {
      clearTimeout(timer)
      resolve()
    })
    connection.quit()
  })
}

/**
 * Decides whether a failure is about this letter or about all letters. Replies to the recipient and to the text are about
 * the letter, except 421. Each earlier failure would affect all letters.
 */
function classify(
  failure: SmtpFailure,
  { stage, connection }: Progress,
  { aborted }: AbortSignal,
): HandoverResult {
  const { command, responseCode, response } = failure
  const code = responseCode ?? null
  const unavailable = {
    result: 'unavailable',
    code,
    problem: problemOf(failure, stage, aborted),
    cause: causeOf(failure),
    // A reply to MAIL FROM is about neither the recipient nor the letter.
    isClosing: code === 421 && stage !== 'connection' && command !== 'MAIL FROM',
  } as const
  // 421 means that the mail server closes the connection. Like a reply to the sender, it says nothing about the letter.
  if (code === 421 || command === 'MAIL FROM') return unavailable
  if (code !== null && (command === 'RCPT TO' || command === 'DATA')) {
    const reply = shorten(response ?? '')
    if (code >= 500 && code < 600) return { result: 'failed', code, reply }
    return { result: 'waiting', code, reply, isUncertain: false }
  }
  const reply =
    aborted || isTimeout(failure) ? 'The mail server did not answer in time.' : 'The connection broke.'
  if (stage === 'letter') return { result: 'waiting', code: null, reply, isUncertain: true }
  // MAIL FROM got a reply, so the recipient may be the cause of the break. Such a letter must not delay all others.
  if (stage === 'envelope' && typeof connection?.lastServerResponse === 'string') {
    return { result: 'waiting', code: null, reply, isUncertain: false }
  }
  return unavailable
}

/** Describes what is wrong with the mail server, for organisers. */
function problemOf(failure: SmtpFailure, stage: Progress['stage'], isLate: boolean) {
  const { code, command, responseCode } = failure
  const known = [code, command, responseCode].filter((part) => part !== undefined && part !== 'CONN')
  const details = known.length > 0 ? ` (${known.join(', ')})` : ''
  if (isLate || isTimeout(failure)) return `The mail server did not answer in time${details}.`
  if (responseCode === 421) return `The mail server is closing${details}.`
  if (command === 'MAIL FROM') return `The mail server did not accept the sender${details}.`
  if (code === 'EAUTH') return `The mail server did not accept the user and password${details}.`
  if (code === 'ETLS') return `The connection to the mail server could not be encrypted${details}.`
  if (responseCode !== undefined) return `The mail server refused the connection${details}.`
  if (stage === 'envelope') return `The mail server broke off the connection${details}.`
  return `The mail server could not be reached${details}.`
}

const isTimeout = ({ code }: SmtpFailure) => code === 'ETIMEDOUT'

function codeOf(response: string | undefined) {
  return Number(/^\d{3}/.exec(response ?? '')?.[0]) || null
}

/** The mail server's reply on one line, truncated. */
function shorten(response: string) {
  const line = response.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').trim()
  return Array.from(line).slice(0, maxReplyLength).join('')
}
