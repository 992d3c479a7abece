import type { Socket } from 'node:net'
import type { Sql } from 'postgres'

/** Runs work on one of several connections. What is not done within the deadline fails. */
export type Run = <T>(work: (sql: Sql) => Promise<T>) => Promise<T>

export interface Lanes {
  run: Run
  /** Ends the connections, after so many seconds for the work under way. */
  end(timeout: number): Promise<void>
}

/** The database did not answer in time. It is not dead: then its connections would have ended. */
export class DeadlineError extends Error {
  readonly code = 'DEADLINE'
}

interface Lane {
  sql: Sql
  /** The socket that the driver opened for it last. */
  socket?: Socket
  underWay: number
}

/**
 * Connections side by side, each of which can be given up by itself: a database that is frozen, or a proxy that
 * passes nothing on, leaves a connection that looks alive, and the driver would wait on it for ever.
 *
 * @param connect Makes one connection, which opens when it is used first, and tells of each socket that it opens.
 * @param deadline Milliseconds after which work fails, and its connection is replaced.
 */
export function createLanes(
  connect: (onSocket: (socket: Socket) => void) => Sql,
  count: number,
  deadline: number,
): Lanes {
  const open = () => {
    const lane: Lane = { sql: connect((socket) => (lane.socket = socket)), underWay: 0 }
    return lane
  }
  const lanes = Array.from({ length: count }, open)

  const giveUp = (lane: Lane) => {
    const index = lanes.indexOf(lane)
    // Another statement may have replaced the connection already.
    if (index === -1) return
    lanes[index] = open()
    void close(lane, 0)
  }

  /** The driver says goodbye and waits for an answer; a database that does not answer is not waited for. */
  const close = async (lane: Lane, timeout: number) => {
    await lane.sql.end({ timeout })
    lane.socket?.destroy()
  }

  return {
    async run(work) {
      const lane = lanes.reduce((least, other) => (other.underWay < least.underWay ? other : least))
      lane.underWay += 1
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<never>((_resolve, reject) => {
        timer = setTimeout(() => {
          reject(new DeadlineError(`the database did not answer within ${deadline} ms`))
          giveUp(lane)
        }, deadline)
      })
      try {
        return await Promise.race([work(lane.sql), late])
      } finally {
        clearTimeout(timer)
        lane.underWay -= 1
      }
    },
    async end(timeout) {
      await Promise.all(lanes.map((lane) => close(lane, timeout)))
    },
  }
}
