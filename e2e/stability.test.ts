import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

import { webhookBody } from '../src/application/application.ts'
import { csvHeader, tableColumns } from '../src/application/csv.ts'
import { version } from '../src/settings/version.ts'
import { anApplication } from '../testing/form.ts'

// docs/stability.md says what stays as it is until 2.0.

test('the newest entry of the changes is this version, and says first what has to be done', async () => {
  const [, newest = '', entry = ''] =
    /^## (\S+) - \d{4}-\d\d-\d\d\n([^]*?)(?=^## |$(?![^]))/m.exec(await readFile('CHANGELOG.md', 'utf8')) ??
    []
  expect(newest).toBe(version)
  expect(entry.match(/^### .*$/gm)).toEqual(['### To do', '### New'])
})

test('the commands that operators have written down are there', async () => {
  const { scripts } = JSON.parse(await readFile('package.json', 'utf8')) as {
    scripts: Record<string, string>
  }
  const commands = [
    'applications',
    'webhooks',
    'verify',
    'backup',
    'restore',
    'organisers',
    'door',
    'letters',
    'doctor',
  ]
  expect(scripts).toMatchObject({
    start: 'exec node start.js',
    build: 'vite build',
    ...Object.fromEntries(commands.map((name) => [name, `exec node start.js ${name}`])),
  })
})

test('a table has the columns that its readers know, in their order', () => {
  expect(csvHeader(tableColumns)).toBe(
    'id,created_at,first_name,last_name,email,phone,linkedin,company,paid_solution,paid_solution_label,custom_solution,' +
      'team_size,team_size_label,reason,consent,status,answer,answered_at,decided_by,decided_at,notes,letters\r\n',
  )
})

test('the webhook is told an application by the names that automations know', () => {
  expect([...webhookBody(anApplication()).keys()]).toEqual([
    'firstName',
    'lastName',
    'email',
    'phone',
    'linkedin',
    'company',
    'paidSolution',
    'customSolution',
    'teamSize',
    'reason',
    'consent',
  ])
})
