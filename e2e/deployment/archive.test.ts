import { execFile } from 'node:child_process'
import { access, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

import { packRelease, sizeOf, unpackRelease } from '../../testing/archive.ts'
import { send } from '../../testing/client.ts'
import { anApplication } from '../../testing/form.ts'
import { startServer, temporaryDirectory } from '../../testing/server.ts'

const run = promisify(execFile)

test('the release archive is installed without what builds and tests it, starts, and is updated by unpacking it again', async () => {
  const directory = await temporaryDirectory()
  const archive = await packRelease(directory.path)
  const product = join(directory.path, 'product')
  const { PATH = '', HOME = '' } = process.env
  const inProduct = { cwd: product, env: { PATH, HOME } }
  await unpackRelease(archive, product)
  await run('npm', ['ci', '--omit=dev'], inProduct)
  const megabytes = await sizeOf(product)
  console.log(
    `The release archive takes ${(await sizeOf(archive)).toFixed(1)} MB, installed ${megabytes.toFixed(0)} MB.`,
  )
  expect(megabytes).toBeLessThan(70)
  for (const left of ['vite', 'vitest', 'fastify', 'react'])
    await expect(access(join(product, 'node_modules', left))).rejects.toThrow('ENOENT')
  await expect(run('npm', ['run', '--silent', 'demo'], inProduct)).rejects.toMatchObject({
    stderr: 'The demonstration is part of the repository, and not of the release archive.\n',
  })

  // As a copy of the folder may leave it.
  await utimes(join(product, 'package.json'), Date.now() / 1000, Date.now() / 1000)
  await writeFile(join(product, '.env'), 'DATA_DIR=kept\n')
  const application = anApplication()
  const server = await startServer({}, product)
  expect(server.output()).not.toContain('Building')
  expect(await send(server.origin, application)).toBe(201)
  for (const page of ['/', '/desk']) {
    const [script] = /assets\/[\w.-]+\.js/.exec(await (await fetch(server.origin + page)).text()) ?? []
    expect((await fetch(`${server.origin}/${script}`)).status).toBe(200)
  }
  expect(await server.stop()).toBe(0)

  await unpackRelease(archive, product)
  await run('npm', ['ci', '--omit=dev'], inProduct)
  const { stdout } = await run('npm', ['run', '--silent', 'applications', '--', '--json'], inProduct)
  expect(JSON.parse(stdout)).toMatchObject(application)
})
