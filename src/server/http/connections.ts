import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** The part of the most connections from which on idle ones are closed. Their end takes a moment, while others arrive. */
const crowded = 0.8
/** Milliseconds between two lines of the log about closed connections. */
const pause = 60_000

/**
 * Bounds the connections, so that the database and the mail server always find a free file. When they become many, those without
 * a request are closed, the oldest first. Thus connections that only wait do not keep others from being served.
 *
 * @param options.most The most connections at a time. Beyond it, new ones are closed at once.
 */
export function boundConnections(app: FastifyInstance, { most }: { most: number }): void {
  const { server } = app
  server.maxConnections = most
  const silent = new Set<Socket>()
  let open = 0
  let closed = 0
  let reportedAt = Number.NEGATIVE_INFINITY
  const report = () => {
    closed += 1
    if (performance.now() - reportedAt < pause) return
    reportedAt = performance.now()
    app.log.warn(
      { open, most, closed },
      'too many connections are open, so idle or new ones are closed: raise the limit of open files (ulimit -n)',
    )
    closed = 0
  }
  server.on('connection', (socket: Socket) => {
    open += 1
    silent.add(socket)
    socket.once('close', () => {
      open -= 1
      silent.delete(socket)
    })
    if (open <= most * crowded) return
    report()
    // Those that wait for another request.
    server.closeIdleConnections()
    const [oldest] = silent
    if (oldest !== socket) oldest?.destroy()
  })
  server.on('request', ({ socket }) => silent.delete(socket))
  server.on('drop', report)
}
