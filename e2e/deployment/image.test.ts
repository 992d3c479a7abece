import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'

import { packRelease, unpackRelease } from '../../testing/archive.ts'
import { send } from '../../testing/client.ts'
import { buildImage, startContainer, type Image, type RunningContainer } from '../../testing/container.ts'
import { anApplication } from '../../testing/form.ts'
import { freePort } from '../../testing/ports.ts'
import { temporaryDirectory } from '../../testing/server.ts'

let directory: Awaited<ReturnType<typeof temporaryDirectory>>
let image: Image
let container: RunningContainer | undefined

beforeAll(async () => {
  directory = await temporaryDirectory()
  const product = join(directory.path, 'product')
  await unpackRelease(await packRelease(), product)
  image = await buildImage(product, directory.path)
})

test('the image is at most 200 MB larger than its base, and does not run as root', () => {
  const megabytes = image.size - image.baseSize
  console.log(`The image takes ${megabytes.toFixed(0)} MB over its base.`)
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

test('with a read-only root the image stores, backs up, stops in time, and has the application after a restart or a kill', async () => {
  const origin = `http://127.0.0.1:${await freePort()}`
  const settings = { PORT: new URL(origin).port, HOST: '127.0.0.1' }
  const start = async () => {
    container = await startContainer(image, directory.path, settings)
    await container.waitForOutput('is ready at')
    return container
  }
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
  container = undefined
})
