import { execFile, spawn } from 'node:child_process'
import { chmod, chown, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

import { packRelease, unpackRelease } from '../support/archive.ts'
import { send } from '../support/send-application.ts'
import { anApplication } from '../support/form.ts'
import { cannotRun, findProgram } from '../support/requirements.ts'
import { outputOf } from '../support/output.ts'
import { freePort } from '../support/ports.ts'
import { endWithTest } from '../support/end-with-test.ts'
import { temporaryDirectory } from '../support/server.ts'

const run = promisify(execFile)

/** Debian's `nobody`: a user without a home, who has to exist for PostgreSQL. */
const nobody = 65_534

/** Listens as systemd does, and prints the first message. Node.js has no such sockets. */
const listen = `import os, socket, sys
listening = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listening.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o666)
print("listening", flush=True)
print(listening.recv(100).decode(), flush=True)
sys.stdin.read()`

test('systemd finds nothing wrong in the units, and rates their exposure as low', async () => {
  const analyze = findProgram('systemd-analyze', 'systemd')
  const { path } = await temporaryDirectory()
  const names = (await readdir('deploy')).filter((name) => /\.(service|timer)$/.test(name))
  for (const name of names) {
    const unit = await readFile(join('deploy', name), 'utf8')
    await writeFile(join(path, name), unit.replace('/usr/bin/node', process.execPath))
  }
  const units = names.map((name) => join(path, name))
  expect(await run(analyze, ['verify', ...units])).toEqual({ stdout: '', stderr: '' })
  const hardened = units.filter((unit) => /unplugged(-doctor)?\.service$/.test(unit))
  expect(hardened).toHaveLength(2)
  // In tenths: the docs name the value.
  for (const unit of hardened) await run(analyze, ['security', '--offline=true', '--threshold=15', unit])
})

test("the server and its commands run as the systemd unit's user with the unit's settings, from any folder", async ({
  skip,
}) => {
  if (process.getuid?.() !== 0)
    return cannotRun(skip, 'Only root runs programs as another user: run it as root.')
  const { path } = await temporaryDirectory()
  await chmod(path, 0o755)
  const [product, state, backups] = ['opt', 'state', 'backups'].map((name) => join(path, name)) as [
    string,
    string,
    string,
  ]
  await unpackRelease(await packRelease(), product)
  await run('npm', ['ci', '--omit=dev'], { cwd: product })
  for (const folder of [state, backups]) {
    await mkdir(folder, { mode: 0o700 })
    await chown(folder, nobody, nobody)
  }
  const port = await freePort()
  const settings = (await readFile(join(product, 'deploy', 'unplugged.env'), 'utf8'))
    .replace('/var/lib/unplugged', state)
    .replace('/var/backups/unplugged', backups)
    .replace(/^# PORT=.*$/m, `PORT=${port}`)
  await writeFile(join(product, '.env'), settings, { mode: 0o640 })
  await chown(join(product, '.env'), 0, nobody)

  findProgram('systemd-notify', 'systemd')
  const socket = join(path, 'notify')
  const systemd = spawn('/usr/bin/python3', ['-c', listen, socket])
  endWithTest(systemd)
  const notified = outputOf(systemd)
  await notified.waitForOutput('listening')

  const env = { PATH: process.env['PATH'], HOME: '/nonexistent' }
  const asUser = { uid: nobody, gid: nobody, env }
  const child = spawn(process.execPath, ['start.js'], {
    ...asUser,
    env: { ...env, NOTIFY_SOCKET: socket },
    cwd: product,
  })
  endWithTest(child, state)
  const { output, waitForOutput } = outputOf(child)
  await notified.waitForOutput('READY=1')
  expect(output()).toContain('is ready at')
  await waitForOutput('"msg":"backup made"')
  const application = anApplication()
  expect(await send(`http://127.0.0.1:${port}`, application)).toBe(201)

  const command = (...args: string[]) =>
    run(process.execPath, [join(product, 'start.js'), ...args], { ...asUser, cwd: '/' })
  expect(JSON.parse((await command('applications', '--json')).stdout)).toMatchObject(application)
  expect((await command('organisers', '--add', 'ada@example.org')).stdout).toMatch(
    `http://127.0.0.1:${port}/desk#token_hash=`,
  )
  for (const name of ['organisers', 'door', 'webhooks', 'letters']) await command(name)
  // Nobody can log in as this user.
  expect((await command('backup', '--help')).stdout).toContain(
    `sudo -u nobody node ${join(product, 'start.js')} backup --list\n`,
  )
  const byHand = join(backups, 'by-hand')
  expect((await command('backup', '--to', byHand)).stdout).toContain('Wrote 1 application')
  expect((await command('backup', '--check', '--from', byHand)).stdout).toContain(
    'can be restored: 1 application',
  )
  // The doctor exits with 1 if this Node.js is too old.
  const { stdout } = await command('doctor').catch((error: { stdout: string }) => error)
  expect(stdout.match(/^\S+ +wrong .*$/gm)?.filter((line) => !line.startsWith('runtime')) ?? []).toEqual([])
  expect(stdout).toMatch(/^site +not set/m)
})
