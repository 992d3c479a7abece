import { expect, test } from 'vitest'

import { commandLine } from './command-line.ts'

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
