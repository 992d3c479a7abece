import type { FastifyReply } from 'fastify'

/**
 * Calls back once, when a response was sent or its connection has closed. It listens to the socket, since Node.js does not
 * report the loss of a response that is queued behind another in a pipeline.
 */
export function onResponseEnd(
  { raw, request }: Pick<FastifyReply, 'raw' | 'request'>,
  callback: () => void,
): void {
  const { socket } = request.raw
  if (socket.destroyed) return callback()
  const end = () => {
    raw.off('finish', end)
    socket.off('close', end)
    callback()
  }
  raw.once('finish', end)
  socket.once('close', end)
}
