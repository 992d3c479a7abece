import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'

import { withFiles } from './values-from-files.ts'
import { readSettings } from './server-settings.ts'

let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'unplugged-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
})

/** Writes a file. Returns its path. */
function fileWith(content: string) {
  const path = join(folder, 'value')
  writeFileSync(path, content)
  return path
}

test.each([
  ['without a line end', 'hooks.example/a b', 'hooks.example/a b'],
  ['with one', 'secret\n', 'secret'],
  ['with one of Windows', 'secret\r\n', 'secret'],
  ['with two', 'secret\n\n', 'secret\n'],
  ['with one inside', 'first\nsecond', 'first\nsecond'],
  ['with blanks and quotes, which are kept', ' "secret" ', ' "secret" '],
])('the value of a setting is the content of its file, %s', (_how, content, value) => {
  const environment = { ANON_KEY_FILE: fileWith(content), ANON_KEY: '', HOME: '/root', WEBHOOK_URL_FILE: '' }
  expect(withFiles(environment)).toEqual({
    ANON_KEY: value,
    ANON_KEY_FILE: undefined,
    HOME: '/root',
    WEBHOOK_URL_FILE: '',
  })
})

test('each setting of the server can come from a file', () => {
  const path = fileWith('https://retreat.example\n')
  expect(readSettings({ SITE_URL_FILE: path }).siteUrl).toBe('https://retreat.example')
  writeFileSync(path, '4000')
  expect(readSettings({ PORT_FILE: path }).port).toBe(4000)
  // The value is checked as usual.
  writeFileSync(path, 'hunter2!')
  expect(() => readSettings({ SMTP_URL_FILE: path })).toThrow(/^SMTP_URL (?!.*hunter2)/)
})

test('a file that cannot be used, and a setting that is given twice, are refused in one sentence', () => {
  const path = fileWith('secret')
  expect(() => withFiles({ SMTP_URL: 'smtp://mail.example', SMTP_URL_FILE: path })).toThrow(
    /^SMTP_URL and SMTP_URL_FILE are both set: remove one of them\.$/,
  )
  const missing = join(folder, 'missing')
  expect(() => withFiles({ SMTP_URL_FILE: missing })).toThrow(
    `SMTP_URL_FILE is "${missing}", which does not exist: write the value into that file.`,
  )
  expect(() => withFiles({ SMTP_URL_FILE: folder })).toThrow(
    `SMTP_URL_FILE is "${folder}", which cannot be read (EISDIR): name a file that has the value.`,
  )
  const read = () => {
    throw Object.assign(new Error('denied'), { code: 'EACCES' })
  }
  expect(() => withFiles({ SMTP_URL_FILE: path }, read)).toThrow(
    `SMTP_URL_FILE is "${path}", which this user may not read: let this user read that file, or run this as a user who may.`,
  )
  writeFileSync(path, '\n')
  expect(() => withFiles({ SMTP_URL_FILE: path })).toThrow(
    `SMTP_URL_FILE is "${path}", which is empty: write the value into that file.`,
  )
})
