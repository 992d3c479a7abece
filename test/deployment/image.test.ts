import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'

import { packRelease, unpackRelease } from '../support/archive.ts'
import { send } from '../support/send-application.ts'
import { buildImage, startContainer, type Image } from '../support/container.ts'
import { anApplication } from '../support/form.ts'
import { freePort } from '../support/ports.ts'
import { readCommands } from '../support/deploy-recipes.ts'
import { temporaryDirectory } from '../support/server.ts'

const run = promisify(execFile)

let directory: Awaited<ReturnType<typeof temporaryDirectory>>
let image: Image

beforeAll(async () => {
  directory = await temporaryDirectory()
  const product = join(directory.path, 'product')
  await unpackRelease(await packRelease(), product)
  // The PostgreSQL of apt.postgresql.org cannot be fetched here.
  image = await buildImage(product, directory.path, '')
})

/** Starts the image's server. Resolves when it is ready. */
async function startServerIn(volumes: string, settings: Record<string, string>, app?: string) {
  const container = await startContainer(image, volumes, { settings, app })
  await container.waitForOutput('is ready at')
  return container
}

test('the image is at most 200 MB larger than its base, and does not run as root', () => {
  const megabytes = image.size - image.baseSize
  console.log(`The image takes ${megabytes.toFixed(0)} MB more than its base.`)
  expect(megabytes).toBeLessThan(200)
  expect(megabytes).toBeGreaterThan(0)
  expect(image.config.User).toBe('node')
})

test('the image has the same licenses and list of packages as the archive', async () => {
  for (const name of ['LICENSE', 'THIRD-PARTY-LICENSES.md', 'unplugged.cdx.json'])
    expect(await readFile(join(image.files, 'app', name), 'utf8')).toBe(
      await readFile(join(directory.path, 'product', name), 'utf8'),
    )
})

test('with a read-only root the image stores and backs up an application, stops in time, and has it after a restart or a kill', async () => {
  const origin = `http://127.0.0.1:${await freePort()}`
  const settings = { PORT: new URL(origin).port, HOST: '127.0.0.1' }
  const start = () => startServerIn(directory.path, settings)
  const first = await start()
  await expect(first.exec('touch', '/app/x')).rejects.toThrow('Read-only file system')
  const status = await first.exec('cat', '/proc/self/status')
  expect(status).toMatch(/^Uid:\t1000\t1000\t1000\t1000$/m)
  expect(status).toMatch(/^CapBnd:\t0+$/m)
  await first.exec(...image.config.Healthcheck.Test.slice(1))

  const application = anApplication()
  expect(await send(origin, application)).toBe(201)
  await first.exec('node', 'start.js', 'backup', '--to', '/backups/by-hand')
  await first.exec('node', 'start.js', 'backup', '--check', '--from', '/backups/by-hand')
  expect(await readdir(join(directory.path, 'backups'))).toContain('by-hand')
  // compose.yaml sets the time to stop.
  const [, minutes = ''] =
    /stop_grace_period: (\d+)m$/m.exec(await readFile('deploy/compose.yaml', 'utf8')) ?? []
  expect(await first.stop(Number(minutes) * 60)).toBe(0)

  const second = await start()
  expect(JSON.parse(await second.exec('node', 'start.js', 'applications', '--json'))).toMatchObject(
    application,
  )
  // A kill is like a power cut.
  await second.stop(0)
  const third = await start()
  expect(JSON.parse(await third.exec('node', 'start.js', 'applications', '--json'))).toMatchObject(
    application,
  )
  expect(await third.stop(Number(minutes) * 60)).toBe(0)
})

test('the image updates the volumes of 1.0.0 after a backup, and 1.0.0 runs again by the documented commands', async () => {
  const volumes = join(directory.path, 'updated')
  await mkdir(volumes)
  const former = join(directory.path, 'former')
  await unpackRelease('test/fixtures/1.0.0/unplugged-1.0.0.tgz', former)
  await run('npm', ['ci', '--omit=dev'], { cwd: former })
  const origin = `http://127.0.0.1:${await freePort()}`
  const settings = { PORT: new URL(origin).port, HOST: '127.0.0.1' }
  const list = ['node', 'start.js', 'applications', '--json']
  const emailsIn = (text: string) => [...text.matchAll(/"email":"([^"]*)"/g)].map(([, email = '']) => email)
  const [before, after] = [anApplication(), anApplication()]
  const older = await startServerIn(volumes, settings, former)
  expect(await send(origin, before)).toBe(201)
  expect(await older.stop(60)).toBe(0)

  const newer = await startServerIn(volumes, settings)
  expect(newer.output()).toContain('The schema was updated by')
  expect(emailsIn(await newer.exec(...list))).toEqual([before.email])
  expect(await send(origin, after)).toBe(201)
  expect(await newer.stop(60)).toBe(0)

  const backupMade = /"folder":"\/backups\/([^"]+)".*"msg":"backup made"/
  expect(newer.output()).toMatch(backupMade)
  const [, backup = ''] = backupMade.exec(newer.output()) ?? []
  const [, goBack = '', remove = ''] = await readCommands('docs/operate.md', 'In a container', {
    'unplugged-2026-11-25T02-00-00Z': backup,
  })
  const commandsOf = (text: string) =>
    [...text.matchAll(/ run --rm unplugged (.*)$/gm)].map(([, command = '']) => command)
  const runInFormer = async (command: string) => {
    const container = await startContainer(image, volumes, {
      settings,
      command: ['sh', '-c', command],
      app: former,
    })
    expect([await container.exited, container.output()]).toEqual([0, expect.any(String)])
  }
  const commands = commandsOf(goBack)
  expect(commands.length).toBe(3)
  for (const command of commands) await runInFormer(command)
  const formerAgain = await startServerIn(volumes, settings, former)
  expect(emailsIn(await formerAgain.exec(...list))).toEqual([before.email])
  expect(await formerAgain.stop(60)).toBe(0)
  const reader = await startContainer(image, volumes, {
    settings: { ...settings, DATA_DIR: '/data/.newer' },
    command: list,
  })
  expect(await reader.exited).toBe(0)
  expect(emailsIn(reader.output()).toSorted()).toEqual([before.email, after.email].toSorted())
  for (const command of commandsOf(remove)) await runInFormer(command)
  expect(await readdir(join(volumes, 'data'))).not.toContain('.newer')
  expect(await readdir(join(volumes, 'backups'))).not.toContain('before')
})

test("the image brings the distribution's PostgreSQL of the version that its argument names", async () => {
  const { config, ...debian } = await image.rebuild('15')
  console.log(
    `With Debian's PostgreSQL, the image takes ${(debian.size - debian.baseSize).toFixed(0)} MB more than its base.`,
  )
  const container = await startContainer({ config, ...debian }, directory.path, { settings: {} })
  expect(await container.exited).toBe(1)
  // Debian 12 has no PostgreSQL 18. So this shows that its 15 is there, belongs to root, and is the one that would run.
  expect(container.output()).toMatch(
    /^POSTGRES_BIN is "\/usr\/lib\/postgresql\/15\/bin", which is PostgreSQL 15\.\d+, but should be 18,/m,
  )
  expect(await readdir(join(debian.files, 'var/lib/postgresql'))).toEqual([])
})
