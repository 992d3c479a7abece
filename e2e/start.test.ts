import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

import { dataDirectory, startServer, temporaryDirectory } from '../testing/server.ts'
import { copyCheckout } from '../testing/static-site.ts'

/** A checkout of its own, whose build comes and goes. */
let checkout: string
let dataDir: string
let cleanUp: () => Promise<void>

beforeAll(async () => {
  const directory = await temporaryDirectory()
  const data = await dataDirectory()
  dataDir = data.path
  checkout = await copyCheckout(join(directory.path, 'checkout'))
  cleanUp = async () => {
    await data.remove()
    await directory.remove()
  }
})

beforeEach(async () => {
  for (const name of ['dist', 'build', '.env'])
    await rm(join(checkout, name), { recursive: true, force: true })
})

afterAll(() => cleanUp())

const lock = () => join(checkout, 'node_modules', '.unplugged-build')

/** Runs a command in the checkout, which needs no database. */
function start(args: string[] = ['verify', '--help'], settings: Record<string, string> = {}) {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(process.execPath, ['start.js', ...args], {
    cwd: checkout,
    env: { PATH, HOME, ...settings },
  })
  let output = ''
  const waiting = new Set<() => void>()
  const collect = (chunk: Buffer) => {
    output += chunk.toString()
    for (const check of waiting) check()
  }
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  const ended = once(child, 'close') as Promise<[number | null]>
  return {
    child,
    printed: (text: string) =>
      new Promise<void>((resolve) => waiting.add(() => output.includes(text) && resolve())),
    end: async () => ({ code: (await ended)[0], output }),
  }
}

test('the first start says that it builds, the next ones do not', async () => {
  const first = await start().end()
  expect(first).toMatchObject({ code: 0, output: expect.stringMatching(/^Building .*\.\.\.\n/) as string })
  const second = await start().end()
  expect(second.output).not.toContain('Building')
})

test('a build that is stopped says so, and the next start makes it anew', async () => {
  const stopped = start()
  await stopped.printed('Building')
  stopped.child.kill('SIGINT')
  expect(await stopped.end()).toMatchObject({
    code: 1,
    output: expect.stringContaining('The build was stopped.') as string,
  })
  expect(await start().end()).toMatchObject({ code: 0 })
})

test("who waits for another build says for whom; a lock that is nobody's is taken", async () => {
  await writeFile(lock(), String(process.pid))
  const waits = start()
  await waits.printed(`Waiting for process ${process.pid}, which is building.`)
  await rm(lock())
  expect(await waits.end()).toMatchObject({ code: 0 })

  // Of a process that is gone; and of one that lives, but builds for longer than any build takes.
  await rm(join(checkout, 'dist'), { recursive: true })
  await writeFile(lock(), '999999999')
  expect(await start().end()).toMatchObject({ code: 0 })
  await rm(join(checkout, 'dist'), { recursive: true })
  await writeFile(lock(), String(process.pid))
  await utimes(lock(), 0, 0)
  expect(await start().end()).toMatchObject({ code: 0 })
})

test('a file .env with a byte order mark is read from its first line on', async () => {
  await writeFile(join(checkout, '.env'), '\uFEFFPORT=first\nHOST=x\n')
  const { code, output } = await start([]).end()
  expect({ code, output }).toMatchObject({
    code: 1,
    output: expect.stringContaining('PORT is "first"') as string,
  })
})

test('an update beneath a running server leaves visitors what their page asks for', async () => {
  const server = await startServer({ DATA_DIR: dataDir }, checkout)
  const scriptOf = async () =>
    /data-page="\.([^"]+)"/.exec(await (await fetch(server.origin)).text())?.[1] ?? ''
  const before = await scriptOf()
  await appendFile(join(checkout, 'src/pages/apply/main.tsx'), "console.log('a new version')\n")
  const { code, output } = await start(['applications'], { DATA_DIR: dataDir }).end()
  expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining('Building') as string })
  // The server runs on as it was started, and its script is there.
  expect(await scriptOf()).toBe(before)
  const script = await fetch(server.origin + before, { headers: { 'accept-encoding': 'br' } })
  expect([script.status, script.headers.get('content-encoding')]).toEqual([200, 'br'])
  expect(await server.stop()).toBe(0)
  const updated = await startServer({ DATA_DIR: dataDir }, checkout)
  const after = /data-page="\.([^"]+)"/.exec(await (await fetch(updated.origin)).text())?.[1] ?? ''
  expect(after).not.toBe(before)
  for (const path of [before, after]) expect((await fetch(updated.origin + path)).status).toBe(200)
  expect(await readFile(join(checkout, 'dist', after), 'utf8')).toContain('a new version')
  await updated.stop()
})
