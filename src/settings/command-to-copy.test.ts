import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'

import { atTestEnd } from '../../test/support/cleanup.ts'
import { commandLine } from './command-to-copy.ts'

const direct = { isNpm: false, path: '/opt/unplugged/start.js', serviceUser: undefined }

test.each([
  ['npm', { ...direct, isNpm: true }, 'npm run backup -- --list'],
  ['Node.js', direct, 'node /opt/unplugged/start.js backup --list'],
  [
    'a user that nobody can log in as',
    { ...direct, serviceUser: 'unplugged' },
    'sudo -u unplugged node /opt/unplugged/start.js backup --list',
  ],
])('a command is shown as it has to be run: by %s', (_, caller, expected) => {
  expect(commandLine('backup', '--list', caller)).toBe(expected)
})

test('npm prints nothing of its own before output that is piped, and options are left out if there are none', () => {
  const byNpm = { ...direct, isNpm: true }
  expect(commandLine('organisers', '--add ada@example.org', byNpm)).toBe(
    'npm run -s organisers -- --add ada@example.org',
  )
  expect(commandLine('door', '', byNpm)).toBe('npm run door')
  expect(commandLine('door', '', direct)).toBe('node /opt/unplugged/start.js door')
})

test('the server itself is no command', () => {
  expect(commandLine('start', '--dry-run', { ...direct, isNpm: true })).toBe('npm start -- --dry-run')
  expect(commandLine('start', '', direct)).toBe('node /opt/unplugged/start.js')
})

test.each([
  ['npm', 'test', '/opt/unplugged/start.js', '/bin/bash', 'npm run -s applications'],
  ['Node.js', undefined, '/srv/current/start.js', '/bin/bash', 'node /srv/current/start.js applications'],
  ['a user without an entry', undefined, '/srv/start.js', undefined, 'node /srv/start.js applications'],
  ['a user without a shell', undefined, '/srv/start.js', null, 'node /srv/start.js applications'],
  [
    'a user who may not log in',
    undefined,
    '/srv/start.js',
    '/usr/sbin/nologin',
    'sudo -u unplugged node /srv/start.js applications',
  ],
  [
    'a user whose shell is false',
    undefined,
    '/srv/start.js',
    '/bin/false',
    'sudo -u unplugged node /srv/start.js applications',
  ],
  [
    'a user with a shell in a folder of a misleading name',
    undefined,
    '/srv/start.js',
    '/nologin/zsh',
    'node /srv/start.js applications',
  ],
  [
    'a program other than start.js',
    undefined,
    '/opt/unplugged/tools/run.js',
    '/bin/bash',
    `node ${join(process.cwd(), 'start.js')} applications`,
  ],
  [
    'a program without a path',
    undefined,
    undefined,
    '/bin/bash',
    `node ${join(process.cwd(), 'start.js')} applications`,
  ],
])(
  'a command is shown in the way in which the program was started: by %s',
  (_, npm, script, shell, expected) => {
    vi.stubEnv('npm_lifecycle_event', npm)
    const { argv } = process
    process.argv = script === undefined ? ['node'] : ['node', script]
    const user = vi.spyOn(os, 'userInfo').mockImplementation(() => {
      if (shell === undefined) throw new Error('no such user')
      return { username: 'unplugged', shell, uid: 1, gid: 1, homedir: '/' }
    })
    syncBuiltinESMExports()
    atTestEnd(() => {
      vi.unstubAllEnvs()
      process.argv = argv
      user.mockRestore()
      syncBuiltinESMExports()
    })
    expect(commandLine('applications')).toBe(expected)
  },
)
