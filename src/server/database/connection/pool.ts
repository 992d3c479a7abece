import { setTimeout as wait } from 'node:timers/promises'
import type { DatabaseError } from 'pg'

import {
  ConnectionError,
  DeadlineError,
  isDatabaseError,
  type Address,
  type Connection,
  type ConnectionLimits,
} from './connection.ts'
import { openConnection } from './open-connection.ts'
import { sqlOf, type Sql } from './sql.ts'

/** The options of a connection pool. */
export interface PoolOptions extends ConnectionLimits {
  /** The maximum number of connections. */
  size: number
  /** Milliseconds after which an idle connection is closed; never if omitted. */
  idleTimeout?: number
  /**
   * Called with the name of the outermost function, if known, when PostgreSQL ended a transaction because of a deadlock. The
   * transaction is then tried once more. If this is omitted, it is not.
   */
  onDeadlock?: (name: string) => void
}

/**
 * Milliseconds between a deadlock and the second try. Without a pause, that could take the lock again for which the other
 * transaction waits.
 */
const deadlockPause = 50

/** The numbers of a pool. */
export interface PoolCounts {
  /** The open connections, and those of them that nobody uses. */
  open: number
  idle: number
  /** The callers that wait for a connection. */
  waiting: number
}

/** Connections to one database, each used by one caller at a time. */
export interface Pool extends Sql {
  /**
   * Runs work on a connection: one statement or one transaction, which is repeated once after a deadlock (`onDeadlock`).
   *
   * @param person The person whose work it is, in a pool that people share: nobody gets more than half of the connections.
   * @throws {DeadlineError} if no connection was free within the deadline.
   * @throws {ConnectionError} if the pool is closed, or no connection could be opened.
   */
  withConnection: <Result>(
    work: (connection: Connection) => Promise<Result>,
    person?: string,
  ) => Promise<Result>
  counts: () => PoolCounts
  /** Closes the connections, after up to `patience` milliseconds for pending work. */
  end: (patience?: number) => Promise<void>
}

/**
 * Milliseconds after which a connection is replaced, and the maximum that is added at random. An old connection collects query
 * plans, and may lead to a former address of the host.
 */
const lifetime = { least: 1_800_000, more: 1_800_000 }
/** Back-off after a connection could not be opened, in milliseconds. */
const reopenPause = 250
/** Milliseconds in which an idle connection can close gracefully. */
const closeTimeout = 1_000
/** Milliseconds for pending work when the pool is closed. */
const usualPatience = 5_000

const closedError = () =>
  new ConnectionError('CONNECTION_CLOSED', new Error('the connections to the database are closed'))

interface WaitingCaller {
  person: string | undefined
  timer: NodeJS.Timeout | undefined
  begin: () => void
  fail: (error: unknown) => void
}

/**
 * Creates a pool that opens connections on demand. Callers wait in the order of their arrival. Others overtake the callers of a
 * person who already uses half of the connections.
 */
export function createPool(
  address: Address,
  { size, idleTimeout, onDeadlock, ...limits }: PoolOptions,
): Pool {
  const { deadline } = limits
  const maxPerPerson = Math.max(1, Math.floor(size / 2))
  /** The open connections, with the time at which each is replaced. */
  const open = new Map<Connection, number>()
  const idle: { connection: Connection; timer: NodeJS.Timeout | undefined }[] = []
  const waiting = new Set<WaitingCaller>()
  /** The number of connections that each person uses. */
  const inUse = new Map<string, number>()
  /** The number of connections, open or not, that no caller uses. */
  let free = size
  /** Before this time no connection is opened, since the last attempt failed. */
  let mayOpenFrom = 0
  let isEnded = false

  const mayBegin = (person: string | undefined) =>
    free > 0 && (person === undefined || (inUse.get(person) ?? 0) < maxPerPerson)
  const countInUse = (person: string | undefined, change: 1 | -1) => {
    free -= change
    if (person === undefined) return
    const used = (inUse.get(person) ?? 0) + change
    if (used === 0) inUse.delete(person)
    else inUse.set(person, used)
  }
  const startWaitingCallers = () => {
    for (const next of waiting) {
      if (free === 0) return
      if (mayBegin(next.person)) next.begin()
    }
  }
  const failWaitingCallers = (error: unknown) => {
    for (const next of waiting) next.fail(error)
  }

  const waitForSlot = (person: string | undefined) =>
    new Promise<void>((resolve, reject) => {
      const stopWaiting = () => {
        waiting.delete(entry)
        clearTimeout(entry.timer)
      }
      const entry: WaitingCaller = {
        person,
        timer: undefined,
        begin() {
          stopWaiting()
          countInUse(person, 1)
          resolve()
        },
        fail(error) {
          stopWaiting()
          reject(error)
        },
      }
      if (mayBegin(person)) return entry.begin()
      if (deadline !== undefined) {
        const onTimeout = () => entry.fail(new DeadlineError(`no connection was free within ${deadline} ms`))
        entry.timer = setTimeout(onTimeout, deadline)
      }
      waiting.add(entry)
    })

  const openNew = async () => {
    const pause = mayOpenFrom - performance.now()
    if (pause > 0) await wait(pause)
    try {
      const connection = await openConnection(address, limits)
      if (isEnded) {
        void connection.close(closeTimeout)
        throw closedError()
      }
      open.set(connection, performance.now() + lifetime.least + Math.random() * lifetime.more)
      void connection.ended.then(() => {
        open.delete(connection)
        takeIdle(connection)
      })
      return connection
    } catch (error) {
      mayOpenFrom = performance.now() + reopenPause
      // Without an open connection, none can become free for the waiting callers.
      if (open.size === 0) failWaitingCallers(error)
      throw error
    }
  }

  /** Takes the most recently used idle connection, or the wanted one if it is idle. */
  const takeIdle = (wanted?: Connection) => {
    const index = idle.findLastIndex(({ connection }) =>
      wanted === undefined ? !connection.isLost : connection === wanted,
    )
    const [entry] = index === -1 ? [] : idle.splice(index, 1)
    clearTimeout(entry?.timer)
    return entry?.connection
  }

  const release = (connection: Connection) => {
    if (isEnded || connection.isLost || performance.now() > (open.get(connection) ?? 0)) {
      return void connection.close(closeTimeout)
    }
    const close = () => void takeIdle(connection)?.close(closeTimeout)
    idle.push({ connection, timer: idleTimeout === undefined ? undefined : setTimeout(close, idleTimeout) })
  }

  const withConnection: Pool['withConnection'] = async (work, person) => {
    if (isEnded) throw closedError()
    await waitForSlot(person)
    try {
      const connection = takeIdle() ?? (await openNew())
      try {
        return await work(connection).catch(async (error: unknown) => {
          if (onDeadlock === undefined || !isDeadlock(error)) throw error
          onDeadlock(functionIn(error.where))
          await wait(deadlockPause)
          return work(connection)
        })
      } finally {
        release(connection)
      }
    } finally {
      countInUse(person, -1)
      startWaitingCallers()
    }
  }

  const end = async (patience = usualPatience) => {
    isEnded = true
    failWaitingCallers(closedError())
    const unused = idle.splice(0).map(({ connection, timer }) => {
      clearTimeout(timer)
      return connection.close(Math.min(patience, closeTimeout))
    })
    const timeout = setTimeout(() => [...open.keys()].forEach((connection) => connection.giveUp()), patience)
    await Promise.all([...unused, ...[...open.keys()].map(({ ended }) => ended)])
    clearTimeout(timeout)
  }

  const sql = sqlOf({
    run: (...statement) => withConnection((connection) => connection.run(...statement)),
    begin: (mode, work) => withConnection(({ sql: one }) => one.begin(mode, work)),
  })
  const counts = () => ({ open: open.size, idle: idle.length, waiting: waiting.size })
  return Object.assign(sql, { withConnection, counts, end })
}

function isDeadlock(error: unknown): error is DatabaseError {
  return isDatabaseError(error) && error.code === '40P01'
}

/** The outermost function in the context of PostgreSQL's error; blank if there is none. */
const functionIn = (context = '') => [...context.matchAll(/function "?([\w.]+)/g)].at(-1)?.[1] ?? ''
