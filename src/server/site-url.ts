import type { AddressInfo } from 'node:net'

/**
 * The public address: the one in the settings, or otherwise the address at which the server listens.
 *
 * @param listening The result of `server.address()`.
 */
export function siteOf(siteUrl: string | undefined, listening: AddressInfo | string | null): URL {
  if (siteUrl !== undefined) return new URL(siteUrl)
  const { address, port } = typeof listening === 'object' && listening ? listening : { address: '', port: 0 }
  return addressOf(address, port)
}

/** The address of a server on this machine. A server that listens on all interfaces is reached as `localhost`. */
export function addressOf(host: string, port: number): URL {
  const isEverywhere = ['', '::', '0.0.0.0'].includes(host)
  return new URL(`http://${isEverywhere ? 'localhost' : host.includes(':') ? `[${host}]` : host}:${port}`)
}
