import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { Resolver } from 'node:dns/promises'

import { atTestEnd } from './cleanup.ts'

/** The records of each name, by type. A query gets no reply if the name has `silence`, and an error if it has `failure`. */
export type Zone = Readonly<
  Record<string, Partial<Record<'MX' | 'TXT' | 'A', string[]>> | 'silence' | 'failure'>
>

const types = { A: 1, MX: 15, TXT: 16 } as const

/**
 * Starts a name server on a free port of the loopback address. It replies that names outside the zone do not exist.
 *
 * @returns A resolver that uses it.
 */
export async function startNameServer(zone: Zone): Promise<{ names: Resolver }> {
  const socket = createSocket('udp4')
  socket.on('message', (query, { address, port }) => {
    const { name, type, end } = questionOf(query)
    const records = zone[name.toLowerCase()]
    if (records === 'silence') return
    const [kind] = Object.entries(types).find(([, number]) => number === type) ?? []
    const values = typeof records === 'object' ? (records[kind as keyof typeof types] ?? []) : []
    const answers = values.map((value) => record(type, dataOf(type, value)))
    const code = records === 'failure' ? 2 : records === undefined ? 3 : 0
    const header = Buffer.alloc(12)
    query.copy(header, 0, 0, 2)
    header.writeUInt16BE(0x8180 | code, 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(answers.length, 6)
    socket.send(Buffer.concat([header, query.subarray(12, end), ...answers]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  // On a busy machine a reply can take longer, so the timeout is short only for a zone that needs one.
  const hasSilence = Object.values(zone).includes('silence')
  const names = new Resolver({ timeout: hasSilence ? 250 : 20_000, tries: 1 })
  names.setServers([`127.0.0.1:${socket.address().port}`])
  atTestEnd(() => void socket.close())
  return { names }
}

/** Reads the question of a message (RFC 1035, 4.1.2), and the offset of its end. */
function questionOf(message: Buffer) {
  const labels: string[] = []
  let offset = 12
  for (let length = message[offset] ?? 0; length > 0; length = message[offset] ?? 0) {
    labels.push(message.toString('latin1', offset + 1, offset + 1 + length))
    offset += 1 + length
  }
  return { name: labels.join('.'), type: message.readUInt16BE(offset + 1), end: offset + 5 }
}

function record(type: number, data: Buffer) {
  const head = Buffer.alloc(12)
  // A pointer to the question's name.
  head.writeUInt16BE(0xc00c, 0)
  head.writeUInt16BE(type, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}

function dataOf(type: number, value: string) {
  if (type === types.A) return Buffer.from(value.split('.').map(Number))
  if (type === types.MX) return Buffer.concat([Buffer.from([0, 10]), nameOf(value)])
  // A string holds at most 255 bytes.
  const parts = value.match(/[^]{1,255}/g) ?? ['']
  return Buffer.concat(parts.map((part) => Buffer.concat([Buffer.from([part.length]), Buffer.from(part)])))
}

function nameOf(name: string) {
  const labels = name.split('.').filter((label) => label !== '')
  return Buffer.concat([
    ...labels.map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)])),
    Buffer.from([0]),
  ])
}
