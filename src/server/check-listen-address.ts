import { once } from 'node:events'
import { createServer } from 'node:net'

import { writtenAddress, type ListenAddress } from '../settings/listen-address.ts'
import { OperatorError } from '../settings/operator-error.ts'

/**
 * Checks an address before the database is created or updated.
 *
 * @throws {OperatorError} if this server cannot listen there.
 */
export async function checkListenAddress(address: ListenAddress): Promise<void> {
  const { host, port } = address
  const probe = createServer().listen({ host, port })
  await once(probe, 'listening').catch((error: unknown) => {
    throw listenFailure(error, address)
  })
  await once(probe.close(), 'close')
}

/** The error of a server that could not listen, as a sentence for the operator if its cause is known. */
export function listenFailure(error: unknown, address: ListenAddress): unknown {
  const { host, port, setting } = address
  const [name, shown] = setting === undefined ? ['PORT', port] : [setting, writtenAddress(address)]
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE') {
    return new OperatorError(
      `${name} is "${shown}", which another program uses: stop that program, or set ${name} to another port.`,
    )
  }
  if (code === 'EACCES') {
    return new OperatorError(
      `${name} is "${shown}", which this user may not listen on: set ${name} to ${setting === undefined ? '' : 'a port of '}1024 or more.`,
    )
  }
  if (/^(EADDRNOTAVAIL|EAFNOSUPPORT|EINVAL|ENOTFOUND|EAI_AGAIN)$/.test(String(code))) {
    const [hostName, shownHost] = setting === undefined ? ['HOST', host] : [name, shown]
    return new OperatorError(
      `${hostName} is "${shownHost}" but should be an address of this machine, such as 127.0.0.1 or 0.0.0.0.`,
    )
  }
  return error
}
