import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, mkdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'

import { version } from '../../../src/settings/version.ts'
import { send } from '../../support/send-application.ts'
import { anApplication } from '../../support/form.ts'
import { signInByLink } from '../../support/sign-in-by-link.ts'
import { startPostgres } from '../../support/postgres.ts'
import { startReceiver } from '../../support/receiver.ts'
import { dataDirectory, runCommand, startServer, temporaryDirectory } from '../../support/server.ts'
import { copyCheckout } from '../../support/static-site.ts'

/** A separate checkout, because the tests make and remove its build. A build takes four seconds of processor time. */
let checkout: string
let dataDir: string

beforeAll(async () => {
  const directory = await temporaryDirectory()
  const data = await dataDirectory()
  dataDir = data.path
  checkout = await copyCheckout(join(directory.path, 'checkout'))
})

const lock = () => join(checkout, 'node_modules', '.unplugged-build')

/** Runs a command in the checkout, by default one that needs no database. */
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
    waitForText: (text: string) =>
      new Promise<void>((resolve) => waiting.add(() => output.includes(text) && resolve())),
    end: async () => ({ code: (await ended)[0], output }),
  }
}

/** Starts a build, and interrupts it when it has begun. */
async function startAndStopBuild() {
  const stopped = start()
  await stopped.waitForText('Building')
  stopped.child.kill('SIGINT')
  expect(await stopped.end()).toMatchObject({
    code: 1,
    output: expect.stringContaining('The build was stopped.') as string,
  })
}

describe.sequential('a checkout that is built repeatedly', { shuffle: false }, () => {
  test('an interrupted build says so, the next start builds again, and later starts do not build', async () => {
    await startAndStopBuild()
    const next = await start().end()
    expect(next).toMatchObject({ code: 0, output: expect.stringMatching(/^Building .*\.\.\.\n/) as string })
    expect((await start().end()).output).not.toContain('Building')
  })

  test('the next start after another commit builds again, and names the commit', async () => {
    // The version of a release has no commit.
    const number = '9.9.9-dev'
    const file = join(checkout, 'package.json')
    const text = await readFile(file, 'utf8')
    await writeFile(file, text.replace(/"version": ".*"/, `"version": "${number}"`))
    /** Makes a commit. Returns its version. */
    const commit = () => {
      const git = (...words: string[]) => execFileSync('git', words, { cwd: checkout }).toString()
      git('init', '--quiet')
      git('-c', 'user.name=Ada', '-c', 'user.email=@', 'commit', '--quiet', '--allow-empty', '-m', 'One')
      return `${number}+${git('rev-parse', 'HEAD').slice(0, 7)}\n`
    }
    const printedVersion = async (settings?: Record<string, string>) =>
      (await start(['--version'], settings).end()).output
    expect(await printedVersion()).toBe(`${number}\n`)

    const first = commit()
    expect((await start().end()).output).toContain('Building')
    expect(await printedVersion()).toBe(first)
    expect((await start().end()).output).not.toContain('Building')

    const second = commit()
    expect(await printedVersion()).toBe(second)
    // A user without access to git runs the existing build with its version.
    const withoutGit = { PATH: checkout }
    expect(await printedVersion(withoutGit)).toBe(first)
    expect((await start(undefined, withoutGit).end()).output).not.toContain('Building')
    await rm(join(checkout, '.git'), { recursive: true })
  })

  test('a start during another build waits for it and does not build, and an abandoned lock does not stop a start', async () => {
    const [dist, aside] = [join(checkout, 'dist'), join(checkout, 'aside')]
    await rename(dist, aside)
    await writeFile(lock(), String(process.pid))
    const waitingStart = start()
    await waitingStart.waitForText(`Waiting for process ${process.pid}, which is building.`)
    await rename(aside, dist)
    await rm(lock())
    const waited = await waitingStart.end()
    expect(waited.code).toBe(0)
    expect(waited.output).not.toContain('Building')

    // Tries the lock of a process that has ended, and a lock that is older than the longest build.
    await rm(dist, { recursive: true })
    await writeFile(lock(), '999999999')
    await startAndStopBuild()
    await writeFile(lock(), String(process.pid))
    await utimes(lock(), 0, 0)
    expect(await start().end()).toMatchObject({ code: 0 })
  })

  test('a file .env with a byte order mark is read, its first line included', async () => {
    await writeFile(join(checkout, '.env'), '\uFEFFPORT=first\nHOST=x\n')
    const { code, output } = await start([]).end()
    expect({ code, output }).toMatchObject({
      code: 1,
      output: expect.stringContaining('PORT is "first"') as string,
    })
    await rm(join(checkout, '.env'))
  })

  test('an unreadable file .env is reported in one sentence', async () => {
    // Root may read every file, so a folder stands for an unreadable file.
    await mkdir(join(checkout, '.env'))
    expect(await start().end()).toEqual({
      code: 1,
      output:
        'The settings in .env cannot be read: let this user read that file, or run this as a user who may.\n',
    })
    await rm(join(checkout, '.env'), { recursive: true })
  })

  test('a colour that .env cuts off at its # is reported in one sentence', async () => {
    await writeFile(join(checkout, '.env'), 'PORT=0\nSITE_ACCENT=#e8a33d\n')
    expect(await start().end()).toEqual({
      code: 1,
      output:
        'SITE_ACCENT in .env ends before its sign #, which begins a comment: put the value in quotes.\n',
    })
    await rm(join(checkout, '.env'))
  })

  test('visitors of a running server still get the files of its pages after a new build', async () => {
    const server = await startServer({ DATA_DIR: dataDir }, checkout)
    const scriptOf = async () =>
      /data-page="\.([^"]+)"/.exec(await (await fetch(server.origin)).text())?.[1] ?? ''
    const before = await scriptOf()
    await appendFile(join(checkout, 'src/pages/apply/main.tsx'), "console.log('a new version')\n")
    const desk = join(checkout, 'src/pages/desk/render.tsx')
    await writeFile(desk, (await readFile(desk, 'utf8')).replace('Applications · Unplugged.', 'A new desk'))
    const { code, output } = await start(['applications'], { DATA_DIR: dataDir }).end()
    expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining('Building') as string })
    // The running server still serves its pages and their script.
    expect(await scriptOf()).toBe(before)
    const script = await fetch(server.origin + before, { headers: { 'accept-encoding': 'br' } })
    expect([script.status, script.headers.get('content-encoding')]).toEqual([200, 'br'])
    // The desk was not opened before the new build, and is still the earlier one.
    expect(await (await fetch(`${server.origin}/desk`)).text()).toContain('<title>Applications · Unplugged.')
    expect(await server.stop()).toBe(0)
    const updated = await startServer({ DATA_DIR: dataDir }, checkout)
    const after = /data-page="\.([^"]+)"/.exec(await (await fetch(updated.origin)).text())?.[1] ?? ''
    expect(after).not.toBe(before)
    for (const path of [before, after]) expect((await fetch(updated.origin + path)).status).toBe(200)
    expect(await readFile(join(checkout, 'dist', after), 'utf8')).toContain('a new version')
  })

  test('an older server keeps serving while a newer version starts, but an older version cannot start afterwards', async () => {
    const postgres = await startPostgres()
    const receiver = await startReceiver()
    const settings = { DATABASE_URL: postgres.url(), WEBHOOK_URL: receiver.origin }
    const older = await startServer(settings)
    const { stdout: link } = await runCommand(['organisers', '--add', 'ada@example.org'], {
      ...settings,
      SITE_URL: older.origin,
    })
    const { client } = await signInByLink(older.origin, link)

    const packageFile = join(checkout, 'package.json')
    const packageText = await readFile(packageFile, 'utf8')
    await writeFile(packageFile, packageText.replace(/"version": "[^"]*"/, '"version": "99.0.0"'))
    await writeFile(
      join(checkout, 'supabase', 'migrations', '29990101000000_newer.sql'),
      `create table private.newer (id uuid primary key references public.retreat_applications on delete cascade);
     alter table private.letters add column newer text not null default '';`,
    )
    const newer = await startServer(settings, checkout)
    const versionOf = async (origin: string) =>
      ((await (await fetch(`${origin}/healthz`)).json()) as { version: string }).version
    expect([await versionOf(older.origin), await versionOf(newer.origin)]).toEqual([version, '99.0.0'])

    // Each server knows the other's applications, and each application is delivered once.
    for (const [first, second] of [
      [older, newer],
      [newer, older],
    ] as const) {
      const application = anApplication({ email: `${new URL(first.origin).port}@example.org` })
      expect([await send(first.origin, application), await send(second.origin, application)]).toEqual([
        201, 409,
      ])
    }
    expect(await receiver.waitFor(2)).toHaveLength(2)
    expect(await client.rpc('desk_list', { filter: {}, after: null })).toMatchObject({
      data: { applications: [{}, {}] },
      error: null,
    })
    expect((await fetch(`${older.origin}/readyz`)).status).toBe(200)

    const refusal =
      /^The database was updated by a newer version of this program than this one: run that version or a later one, or go back .*\(docs\/operate\.md#go-back\)\.$/m
    expect(await runCommand(['applications'], settings)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(refusal) as string,
    })
    const { code, stdout } = await runCommand(['doctor'], settings)
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: expect.stringMatching(
        /^schema +wrong +The newest migration is 29990101000000, which a newer [^]*\(docs\/operate\.md#go-back\)\.$/m,
      ) as string,
    })
    await older.stop()
    expect(await runCommand([], settings)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(refusal) as string,
    })
    expect(await send(newer.origin, anApplication({ email: 'last@example.org' }))).toBe(201)
  })
})
