import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'

import { dataDirectory, startServer, type RunningServer } from '../test/support/server.ts'
import { memoryOf } from './memory.ts'
import { median, printTable, checkGuarantee, spread } from './table.ts'

const size = 256 * 1024
const repeats = 20
/** The limit for the processor time of a hostile request, as a multiple of a plain one's. */
const maxRatio = 5
/** Jiffies in a second. The kernel counts a process's time in jiffies. */
const jiffies = 100

const formType = 'application/x-www-form-urlencoded'
const jsonType = 'application/json'

interface HostileRequest {
  path: string
  type: string
  body: string
}

const plainRequest = 'a form, one answer of x'
/** A plain request of 256 KiB, and requests of the same size that were expensive once or could be. */
const requests: Record<string, HostileRequest> = {
  [plainRequest]: native(`reason=${'x'.repeat(size - 7)}`),
  'a form, one answer of <': native(`reason=${'<'.repeat(size - 7)}`),
  'a form, one answer of +': native(`reason=${'+'.repeat(size - 7)}`),
  'a form, one answer of %3C': native(`reason=${'%3C'.repeat((size - 7) / 3)}`),
  'a form of many names': native('a&'.repeat(size / 2)),
  'a form of many &': native('&'.repeat(size)),
  'text/plain to the page': { path: '/', type: 'text/plain', body: 'x'.repeat(size) },
  'JSON to the page': { path: '/', type: jsonType, body: `"${'x'.repeat(size - 2)}"` },
  'JSON, one answer of <': rest(JSON.stringify({ reason: '<'.repeat(size - 13) })),
  'JSON, one answer of escapes': rest(`{"reason":"${'\\u003c'.repeat((size - 13) / 6)}"}`),
  'JSON, many names': rest(
    `{${Array.from({ length: 21_000 }, (_, index) => `"${index + 100_000}":1`).join(',')}}`,
  ),
  'JSON, many rows': rest(`[${'{},'.repeat(size / 3 - 1)}{}]`),
  'JSON, deep': rest('['.repeat(size / 2) + ']'.repeat(size / 2)),
  'JSON, many numbers': rest(`[${'1,'.repeat(size / 2 - 2)}1]`),
  'JSON by columns, many {': {
    ...rest('{'.repeat(size)),
    path: '/rest/v1/retreat_applications?columns=email',
  },
}

function native(body: string) {
  return { path: '/', type: formType, body }
}

function rest(body: string) {
  return { path: '/rest/v1/retreat_applications', type: jsonType, body }
}

/** Reads the seconds of processor time that the server has used, without PostgreSQL's. */
function processorOf(server: RunningServer) {
  const fields = readFileSync(`/proc/${server.process.pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / jiffies
}

async function post(origin: string, { path, type, body }: HostileRequest) {
  const response = await fetch(origin + path, {
    method: 'POST',
    headers: { 'content-type': type, apikey: 'public-anon-key' },
    body,
  })
  await response.arrayBuffer()
  return response.status
}

/** Sends a request again and again over eight connections, from a separate process. */
async function startAttack(origin: string, { path, type, body }: HostileRequest) {
  const env = { PATH: process.env['PATH'] ?? '', URL: origin + path, TYPE: type }
  const child = spawn(process.execPath, ['tools/run.js', 'bench/attacker.ts'], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.end(body)
  await once(child.stdout, 'data')
  return child
}

/** Measures the milliseconds of each of many requests for the page. */
async function pageTimes(origin: string, count: number) {
  const times: number[] = []
  for (let index = 0; index < count; index += 1) {
    const started = performance.now()
    await (await fetch(origin)).arrayBuffer()
    times.push(performance.now() - started)
  }
  return times
}

/** Sends a whole request and never reads the response. */
function sendWithoutReading(origin: string, body: string) {
  const { hostname, port } = new URL(origin)
  return new Promise<Socket>((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      socket.pause()
      const head = `POST / HTTP/1.1\r\nhost: x\r\ncontent-type: ${formType}\r\ncontent-length: ${body.length}\r\n\r\n`
      socket.write(head + body, () => resolve(socket))
    })
    socket.on('error', () => resolve(socket))
  })
}

/**
 * Measures what one visitor can take from all others: processor time by expensive requests, memory by unread responses.
 */
export async function benchHostile(): Promise<void> {
  const directory = await dataDirectory()
  for (const [limit, name] of [
    ['0', 'without a rate limit'],
    ['1', 'beyond the rate limit'],
  ] as const) {
    const server = await startServer({ DATA_DIR: directory.path, RATE_LIMIT_PER_MINUTE: limit })
    const { origin } = server
    const rows: string[][] = []
    const costs = new Map<string, number>()
    // The first requests to a new server cost more, also plain ones.
    for (let index = 0; index < 50; index += 1) await post(origin, native(`reason=${'x'.repeat(size - 7)}`))
    for (const [request, content] of Object.entries(requests)) {
      // The first requests are a warm-up.
      for (let index = 0; index < 5; index += 1) await post(origin, content)
      const before = processorOf(server)
      let status = 0
      for (let index = 0; index < repeats; index += 1) status = await post(origin, content)
      const cost = ((processorOf(server) - before) / repeats) * 1000
      costs.set(request, cost)
      const alone = median(await pageTimes(origin, 200))
      const attacker = await startAttack(origin, content)
      const beside = await pageTimes(origin, 200)
      attacker.kill()
      await once(attacker, 'exit')
      rows.push([request, String(status), cost.toFixed(1), alone.toFixed(1), spread(beside, 1)])
    }
    printTable(
      `Requests of 256 KiB, ${name} (${repeats} each; then 200 requests for the page while eight connections send them)`,
      ['', 'status', 'processor, ms', 'the page alone, ms', 'the page beside them, ms'],
      rows,
    )
    await server.stop()
    const maxCost = maxRatio * (costs.get(plainRequest) ?? 0)
    const expensive = [...costs].filter(([, cost]) => cost > maxCost).map(([request]) => request)
    checkGuarantee(
      `${name}, no request costs more than ${maxRatio} times a plain one, but these do: ${expensive.join('; ')}`,
      expensive.length === 0,
    )
  }

  const memory: string[][] = []
  for (const count of [60, 200, 1_000]) {
    const server = await startServer({ DATA_DIR: directory.path })
    await pageTimes(server.origin, 50)
    const before = memoryOf(server)
    const body = `reason=${'<'.repeat(size - 7)}`
    const sockets = await Promise.all(
      Array.from({ length: count }, () => sendWithoutReading(server.origin, body)),
    )
    const beside = await pageTimes(server.origin, 100)
    memory.push([
      String(count),
      before.toFixed(),
      memoryOf(server).toFixed(),
      ((count * size) / 2 ** 20).toFixed(),
      spread(beside, 1),
    ])
    for (const socket of sockets) socket.destroy()
    await server.stop()
  }
  printTable(
    'Connections that post 256 KiB of < and never read',
    [
      'connections',
      'memory before, MB',
      'memory with them, MB',
      'sent by them, MB',
      'the page beside them, ms',
    ],
    memory,
  )
  await directory.remove()
}
