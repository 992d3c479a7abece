import { OperatorError } from './operator-error.ts'
import type { Environment } from './values.ts'

/** An address of this machine on which a server listens. */
export interface ListenAddress {
  host: string
  port: number
  /** The setting that names it, unless `HOST` and `PORT` do. */
  setting?: string
}

/** An address as people write it, such as `127.0.0.1:9464` or `[::1]:9464`. */
export const writtenAddress = ({ host, port }: ListenAddress) =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`

/**
 * Reads an address with its port; undefined if it is not set.
 *
 * @throws {OperatorError} if the value is anything else.
 */
export function readListenAddress(environment: Environment, name: string): ListenAddress | undefined {
  const given = environment[name]?.trim()
  if (!given) return undefined
  const [, host, port] = /^(\[[\da-f:.]+\]|[\w.-]+):(\d{1,5})$/i.exec(given) ?? []
  if (host !== undefined && Number(port) > 0 && Number(port) <= 65_535)
    return { host: host.replaceAll(/[[\]]/g, ''), port: Number(port), setting: name }
  throw new OperatorError(
    `${name} is "${given}" but should be an address of this machine and a port, such as 127.0.0.1:9464.`,
  )
}
