import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { SMTPConnection } from 'smtp-server/lib/smtp-connection.js'

import { deferred } from './deferred.ts'
import { atTestEnd } from './cleanup.ts'

/** A received email. */
export interface ReceivedMail {
  /** The time of its arrival. */
  at: Date
  from: string
  to: string[]
  /** Whether it arrived over TLS. */
  secure: boolean
  /** The user that signed in. Empty without a sign-in. */
  user: string
  subject: string
  /** The whole email, decoded. */
  text: string
  /** The whole email as received. */
  raw: string
  /** The six-digit code and the link in the email. Blank if missing. */
  code: string
  link: string
}

/** The mail server's refusal of a command: a reply, silence, or the end of the connection. */
type Refusal = { code: number; text?: string } | 'hang' | 'break off'

/** An SMTP server that stores all emails in memory. */
export interface MailServer {
  port: number
  received: ReceivedMail[]
  /** The number of open connections. */
  connections(): number
  /** Resolves with all emails to an address once there are this many, earlier ones included. */
  waitFor(number: number, to: string): Promise<ReceivedMail[]>
  close(): Promise<void>
}

/** Greets at once. The package waits 100 ms for clients that speak before the greeting. */
SMTPConnection.prototype.init = function (this: SMTPConnection) {
  // oxlint-disable-next-line eslint/no-underscore-dangle -- the package's own name
  this._setListeners(() => this.connectionReady())
}

/**
 * Starts an SMTP server on a free port of the loopback address.
 *
 * @param options.user The user whose sign-in it requires, if any.
 * @param options.refusesRecipients Whether it refuses every recipient.
 * @param options.refusalAt Returns the refusal of a step, or undefined to accept it. It gets the sender's address at `MAIL FROM`,
 * the recipient's at `RCPT TO` and at `DATA` (the end of the email), and '' at the greeting.
 * @param options.pause Milliseconds before the reply at the end of an email.
 * @param options.startTls Whether it offers STARTTLS, with a self-signed certificate.
 */
export async function startMailServer({
  user,
  refusesRecipients = false,
  refusalAt = () => undefined,
  pause = 0,
  startTls = false,
}: {
  user?: { name: string; password: string }
  refusesRecipients?: boolean
  refusalAt?: (step: 'greeting' | 'MAIL FROM' | 'RCPT TO' | 'DATA', address: string) => Refusal | undefined
  pause?: number
  startTls?: boolean
} = {}): Promise<MailServer> {
  const received: ReceivedMail[] = []
  const waiting = new Set<() => void>()
  const sockets = new Map<number, Socket>()
  const respond = (refusal: Refusal | undefined, { remotePort }: { remotePort: number }, done: Done) => {
    if (refusal === 'hang') return
    if (refusal === 'break off') sockets.get(remotePort)?.destroy()
    else if (refusal === undefined) done(null)
    else done(Object.assign(new Error(refusal.text ?? 'no'), { responseCode: refusal.code }))
  }
  const server = new SMTPServer({
    authOptional: user === undefined,
    allowInsecureAuth: true,
    disableReverseLookup: true,
    disabledCommands: startTls ? [] : ['STARTTLS'],
    onAuth({ username, password }, _session, done) {
      if (username === user?.name && password === user?.password) done(null, { user: username })
      else done(new Error('wrong'))
    },
    onConnect(session, done) {
      respond(refusalAt('greeting', ''), session, done)
    },
    onMailFrom({ address }, session, done) {
      respond(refusalAt('MAIL FROM', address), session, done)
    },
    onRcptTo({ address }, session, done) {
      const refusal = refusesRecipients
        ? { code: 550, text: `no such user ${address}` }
        : refusalAt('RCPT TO', address)
      respond(refusal, session, done)
    },
    onData(stream, session, done) {
      const { envelope, secure, user: name } = session
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const refusal = refusalAt('DATA', envelope.rcptTo[0]?.address ?? '')
        if (refusal !== undefined) return respond(refusal, session, done)
        const raw = Buffer.concat(chunks).toString()
        const text = decode(raw)
        received.push({
          at: new Date(),
          from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
          to: envelope.rcptTo.map(({ address }) => address),
          secure,
          user: typeof name === 'string' ? name : '',
          subject: /^Subject: (.*)$/m.exec(text)?.[1]?.trim() ?? '',
          text,
          raw,
          code: /\b\d{6}\b/.exec(text)?.[0] ?? '',
          link: /^https?:\/\/\S+$/m.exec(text)?.[0] ?? '',
        })
        if (pause === 0) done(null)
        else setTimeout(() => done(null), pause)
        for (const check of waiting) check()
      })
    },
  })
  server.on('error', () => {})
  server.server.on('connection', (socket: Socket) => {
    const port = socket.remotePort ?? 0
    sockets.set(port, socket)
    socket.on('close', () => sockets.delete(port))
  })
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  return {
    port: (server.server.address() as AddressInfo).port,
    received,
    connections: () => sockets.size,
    waitFor: (number, to) =>
      new Promise((resolve) => {
        const check = () => {
          const mails = received.filter((mail) => mail.to.includes(to))
          if (mails.length < number) return
          waiting.delete(check)
          resolve(mails)
        }
        waiting.add(check)
        check()
      }),
    close: atTestEnd(
      () =>
        new Promise<void>((resolve) => {
          server.close(() => resolve())
          for (const socket of sockets.values()) socket.destroy()
        }),
    ),
  }
}

/**
 * Starts a mail server that greets and then never finishes its next reply. It sends a byte every few milliseconds, so that
 * no timeout for silence applies.
 *
 * @returns Its port, and a promise that resolves when a client has disconnected.
 */
export async function startTrickle(): Promise<{
  port: number
  disconnected: Promise<void>
  close(): Promise<void>
}> {
  const sockets = new Set<Socket>()
  const { promise: disconnected, resolve: disconnect } = deferred()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.write('220 here\r\n')
    let trickling: NodeJS.Timeout | undefined
    socket.once('data', () => {
      socket.write('250-')
      trickling = setInterval(() => socket.write('a'), 5)
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      clearInterval(trickling)
      sockets.delete(socket)
      disconnect()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    disconnected: disconnected,
    close: atTestEnd(
      () =>
        new Promise<void>((resolve) => {
          server.close(() => resolve())
          for (const socket of sockets) socket.destroy()
        }),
    ),
  }
}

type Done = (error?: Error | null) => void

/** Decodes quoted-printable, which breaks long links over lines. */
function decode(raw: string) {
  return raw
    .replaceAll('\r\n', '\n')
    .replace(/=\n/g, '')
    .replace(/(?:=[0-9A-F]{2})+/g, (bytes) => Buffer.from(bytes.replaceAll('=', ''), 'hex').toString())
}
