import type { FastifyReply } from 'fastify'

/**
 * Calls back once, when an answer has been sent or its connection has closed. It listens to the socket, since Node.js does
 * not tell that an answer is lost which waits behind another one in a pipeline.
 */
export function whenOver(
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
