import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import type { ConnectionOptions as TlsOptions } from 'node:tls'
import { Connection as DriverConnection, DatabaseError, type Client, type QueryResult } from 'pg'

import { sqlOf, type Parameter, type Rows, type Sql, type StatementOptions } from './sql.ts'

/** The address of a database, with the user to connect as. */
export interface Address {
  /** A name, an IP address, or the folder of a Unix socket. */
  host: string
  port: number
  user?: string
  password?: string
  database?: string
  /** `prefer` uses TLS where the server offers it. */
  tls?: false | 'prefer' | TlsOptions
  tlsNegotiation?: 'direct' | 'postgres'
  /** Timeout of opening a connection, in milliseconds. */
  connectTimeout?: number
  /** The server's parameters for the session. */
  parameters?: Readonly<Record<string, string | number>>
}

/** A statement or the wait for a connection took too long. The database may be frozen: a dead one would end its connections. */
export class DeadlineError extends Error {
  readonly code = 'DEADLINE'
}

/** The connection ended before the response arrived, or could not be opened. */
export class ConnectionError extends Error {
  readonly code: string

  constructor(code: string, cause: Error) {
    super(cause.message, { cause })
    this.code = code
  }
}

/** Whether PostgreSQL itself raised the error; `code` is then the SQLSTATE. */
export function isDatabaseError(error: unknown): error is DatabaseError & { code: string } {
  return error instanceof DatabaseError && error.code !== undefined
}

/** The limits of a connection. */
export interface ConnectionLimits {
  /** Timeout in milliseconds after which a statement is cancelled and its connection closed; no limit if omitted. */
  deadline?: number | undefined
  /** Whether the connection keeps prepared statements for reuse; default true. */
  reusesPrepared?: boolean
}

/**
 * Wraps the error of a connection that was lost or could not be opened.
 *
 * @param code The code of the new error, unless the network gave one or the driver's timeout expired.
 */
export function lostConnection(error: unknown, code = 'CONNECTION_LOST') {
  const cause = error instanceof Error ? error : new Error(String(error))
  const networkCode = 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined
  return new ConnectionError(
    networkCode ?? (cause.message === 'timeout expired' ? 'CONNECT_TIMEOUT' : code),
    cause,
  )
}

/** One connection, whose statements run one at a time. */
export class Connection {
  /** Runs single statements and transactions. */
  readonly sql: Sql
  /** Resolves when the connection has ended, for any reason. */
  readonly ended: Promise<void>
  readonly #client: Client
  readonly #limits: ConnectionLimits
  readonly #inTransaction: Sql
  #isLost = false
  #savepoints = 0

  constructor(client: Client, limits: ConnectionLimits) {
    this.#client = client
    this.#limits = limits
    this.ended = new Promise((resolve) => client.once('end', resolve))
    client.once('end', () => (this.#isLost = true))
    client.on('error', () => (this.#isLost = true))
    this.sql = sqlOf({
      run: this.run,
      begin: (mode, work) => this.transact(`begin ${mode}`, work),
    })
    this.#inTransaction = sqlOf({ run: this.run, begin: (_mode, work) => this.#savepoint(work) })
  }

  /** Whether the connection can no longer be used. */
  get isLost(): boolean {
    return this.#isLost
  }

  /** Runs one statement, or a text of several statements without parameters. */
  readonly run = async <Row extends readonly unknown[]>(
    text: string,
    parameters: readonly Parameter[],
    { prepare = false }: StatementOptions,
  ): Promise<Rows<Row>> => {
    const name = prepare && this.#limits.reusesPrepared !== false ? nameOf(text) : undefined
    try {
      return rowsOf<Row>(await this.#send(text, parameters, name))
    } catch (error) {
      if (!isOutdated(error)) throw error
      // The schema has changed since this connection prepared its statements. Once marked as lost, it is replaced by the pool.
      this.#isLost = true
      // A transaction has failed with its statement, so only a statement outside of one is sent again.
      if (this.#client.getTransactionStatus() !== 'I') throw error
      return rowsOf<Row>(await this.#send(text, parameters))
    }
  }

  /**
   * Runs work in a transaction.
   *
   * @param beginning Statements that begin the transaction, sent in one round trip.
   */
  async transact<Result>(beginning: string, work: (sql: Sql) => Promise<Result>): Promise<Result> {
    try {
      await this.#send(beginning)
      const result = await work(this.#inTransaction)
      const { command } = await this.#send('commit')
      if (command === 'ROLLBACK')
        throw new Error('the transaction was rolled back, as a statement of it had failed')
      return result
    } catch (error) {
      // If the rollback fails, closing the connection ends the transaction.
      if (!this.#isLost) await this.#send('rollback').catch(() => this.giveUp())
      throw error
    }
  }

  async #savepoint<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    const name = `part${(this.#savepoints += 1)}`
    await this.#send(`savepoint ${name}`)
    try {
      const result = await work(this.#inTransaction)
      await this.#send(`release savepoint ${name}`)
      return result
    } catch (error) {
      if (!this.#isLost) await this.#send(`rollback to savepoint ${name}`)
      throw error
    }
  }

  async #send(text: string, parameters: readonly Parameter[] = [], name?: string): Promise<QueryResult> {
    const { deadline } = this.#limits
    let isTimedOut = false
    const onTimeout = () => {
      isTimedOut = true
      this.giveUp()
    }
    const timer = deadline === undefined ? undefined : setTimeout(onTimeout, deadline)
    try {
      const statement = { text, values: parameters as Parameter[] }
      return await this.#client.query(name === undefined ? statement : { ...statement, name })
    } catch (error) {
      if (isTimedOut)
        throw new DeadlineError(`the database did not answer within ${deadline} ms`, { cause: error })
      if (isDatabaseError(error)) {
        // FATAL ends the connection.
        if (error.severity === 'FATAL') this.#isLost = true
        throw error
      }
      this.#isLost = true
      throw lostConnection(error)
    } finally {
      clearTimeout(timer)
    }
  }

  /** Closes the connection gracefully, or forcibly after `patience` milliseconds. */
  async close(patience: number): Promise<void> {
    const timer = setTimeout(() => this.#client.connection.stream.destroy(), patience)
    await this.#client.end()
    clearTimeout(timer)
  }

  /** Closes the connection at once, and cancels its running statement. */
  giveUp(): void {
    this.#isLost = true
    cancel(this.#client)
    this.#client.connection.stream.destroy()
  }
}

/** A text with several statements has several results: this returns the last one. */
function rowsOf<Row extends readonly unknown[]>(result: QueryResult | QueryResult[]): Rows<Row> {
  const { rows, rowCount } = Array.isArray(result) ? (result.at(-1) as QueryResult) : result
  return Object.defineProperty(rows, 'count', { value: rowCount ?? 0 }) as unknown as Rows<Row>
}

/** The names of prepared statements by text. Their number is limited, since the program has a limited number of texts. */
const names = new Map<string, string>()

/** The same text has the same name on every connection. */
function nameOf(text: string) {
  let name = names.get(text)
  if (name === undefined) {
    name = createHash('sha1').update(text).digest('base64url')
    names.set(text, name)
  }
  return name
}

/** Whether the error means that a prepared statement is no longer valid: its columns changed, or it is gone. */
function isOutdated(error: unknown) {
  return (
    isDatabaseError(error) &&
    ((error.code === '0A000' && error.routine === 'RevalidateCachedQuery') || error.code === '26000')
  )
}

/**
 * Asks the server, over a separate connection, to cancel another connection's statement. The server sends no response.
 *
 * The request has the key of that connection: anybody who reads it can cancel all later statements. So it is sent by TLS if that
 * connection has TLS, and only after the certificate was checked.
 *
 * @see https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS
 */
function cancel(client: Client) {
  const { host, port, processID, secretKey, ssl, sslNegotiation } = client as CancellableClient
  if (processID === null || secretKey === null) return
  const options = { ssl, sslNegotiation }
  const connection = new DriverConnection(options) as CancellingConnection
  const send = () => {
    connection.cancel(processID, secretKey)
    connection.stream.end()
  }
  // If the server cannot be reached, there is nothing to cancel.
  connection.on('error', () => {})
  connection.stream.setTimeout(cancelTimeout, () => connection.stream.destroy())
  connection.on('connect', () => {
    if (ssl === false) send()
    else if (sslNegotiation !== 'direct') connection.requestSsl()
  })
  connection.on('sslconnect', () => connection.stream.once('secureConnect', send))
  if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`)
  else connection.connect(port, host)
}

/** The driver's client, with the parts that its types leave out. */
type CancellableClient = Client &
  Record<'processID' | 'secretKey', number | null> & {
    ssl: false | TlsOptions
    sslNegotiation: 'direct' | 'postgres'
  }
/** The driver's connection, with the parts that its types leave out. */
type CancellingConnection = DriverConnection & {
  stream: Socket
  connect(portOrPath: number | string, host?: string): void
  requestSsl(): void
  cancel(processID: number, secretKey: number): void
}

/** Timeout of a cancel request, in milliseconds. */
const cancelTimeout = 5_000
