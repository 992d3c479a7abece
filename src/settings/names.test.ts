import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

import { secretNames, settingNames, problemWithName } from './names.ts'
import { readSettings } from './server-settings.ts'

test('the known names are those that the docs and the example file list', async () => {
  const docs = await Promise.all(['operate', 'hosted'].map((name) => readFile(`docs/${name}.md`, 'utf8')))
  const rows = docs.join('').match(/^\| `[A-Z_]+`(, `[A-Z_]+`)* \|.*$/gm) ?? []
  const listed = rows.flatMap((row) => row.split('|')[1]?.match(/[A-Z_]+/g) ?? [])
  expect(listed.toSorted()).toEqual(settingNames.toSorted())
  const example = await readFile('.env.example', 'utf8')
  const shown = example.match(/^# [A-Z_]+(?==)/gm)?.map((line) => line.slice(2)) ?? []
  expect(shown.toSorted()).toEqual(settingNames.toSorted())
})

test.each([
  ['WEBHOK_URL', 'WEBHOOK_URL'],
  ['WEBHOOK_URI', 'WEBHOOK_URL'],
  ['MAIL_FORM', 'MAIL_FROM'],
  ['TRUSTPROXY', 'TRUST_PROXY'],
  ['smtp_url', 'SMTP_URL'],
  ['SMTP_ULR', 'SMTP_URL'],
  ['WEBHOOK', 'WEBHOOK_URL'],
  ['SMTP', 'SMTP_URL'],
  ['port', 'PORT'],
  ['BACKUP-AT', 'BACKUP_AT'],
  ['ABCKUP_AT', 'BACKUP_AT'],
  ['BACKUP_TA', 'BACKUP_AT'],
  // BACKUP_DIR, which is listed before BACKUP_AT, is two letters off.
  ['BACKUP_AIT', 'BACKUP_AT'],
  ['MAIL_PER_MINUTES', 'MAIL_PER_MINUTE'],
  ['BACKUP_KEP', 'BACKUP_KEEP'],
  ['BACKUP_A', 'BACKUP_AT'],
  ['MAILFRO', 'MAIL_FROM'],
  // Closer to BACKUP_DIR than to BACKUP_AT.
  ['BACKUP_DI', 'BACKUP_DIR'],
  ['SMTP_ULR_FILE', 'SMTP_URL_FILE'],
])('%s is corrected to %s', (name, meant) => {
  for (const isInFile of [true, false]) {
    expect(problemWithName(name, isInFile)).toBe(`${name} is no setting: ${meant} is.`)
  }
})

test('a name with one of our prefixes is reported; in our settings file, so is each name that no other program has', () => {
  expect(problemWithName('WEBHOOK_RETRIES', false)).toBe('WEBHOOK_RETRIES is no setting.')
  expect(problemWithName('LETTERS', true)).toBe('LETTERS is no setting.')
  expect(problemWithName('BACKUP', true)).toBe('BACKUP is no setting: BACKUP_DIR is.')
  // A name of eight letters may have one typo, and a name of four letters none.
  expect(problemWithName('DATA-DI', false)).toBe('DATA-DI is no setting: DATA_DIR is.')
  expect(problemWithName('DATADI', true)).toBe('DATADI is no setting.')
  // Only settings of the server can be in files.
  expect(problemWithName('VITE_SITE_URL_FILE', true)).toBe('VITE_SITE_URL_FILE is no setting.')
  const others = [
    'LETTERS',
    'MY_SMTP_URLS',
    'DATADI',
    // Two letters off. Two swapped neighbours would be one typo, but here only one of the two letters fits.
    'DATA_XDR',
    'DATA_IXR',
    'ID',
    'PORTS',
    'HOSTS',
    'MAIL',
    'RATE_LIMIT',
    'HOME',
    'HOSTNAME',
    'POST',
    'PATH',
    'DATABASE',
    'USER',
    'SHELL',
    'POST_FILE',
    'HISTFILE',
  ]
  expect(others.filter((name) => problemWithName(name, false) !== undefined)).toEqual([])
  const allowed = ['NODE_ENV', 'TZ', 'PGSSLMODE', 'PAGER', 'SMTP_URL_FILE', ...settingNames]
  expect(allowed.filter((name) => problemWithName(name, true) !== undefined)).toEqual([])
  const similarToAllowed = ['TZS', 'LANGS', 'PAGERS', 'LESSER', 'PATHS', 'HOMES', 'MY_NODE_ENV']
  expect(similarToAllowed.filter((name) => problemWithName(name, true) === undefined)).toEqual([])
})

test('values that may be secret are not shown', () => {
  expect(secretNames).toContain('SMTP_URL')
  for (const name of secretNames) {
    expect(() => readSettings({ [name]: 'hunter2!' })).toThrow(new RegExp(`^${name} (?!.*hunter2)`))
  }
})
