import { readFile } from 'node:fs/promises'
import { expect, test, vi } from 'vitest'

import { webhookBody } from '../../../src/application/application.ts'
import { csvHeader, operatorColumns, tableColumns } from '../../../src/application/csv.ts'
import { backupRestored, dumpMigrated, migrateDump, restoreBackup } from '../../support/data-of-1.0.0.ts'
import { anApplication } from '../../support/form.ts'
import { startPostgres } from '../../support/postgres.ts'
import { digestsOfMigrations, releasedList } from '../../../tools/released-migrations.ts'

// docs/stability.md lists the promises that hold until 2.0.

test('the newest section of the changelog is for this version or the next one, and headings are in order', async () => {
  const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string }
  const changes = await readFile('CHANGELOG.md', 'utf8')
  const [, ...sections] = changes.split(/^## /m)
  const isBetween = version.endsWith('-dev')
  expect(/^\S+/.exec(sections[0] ?? '')?.[0]).toBe(isBetween ? 'Unreleased' : version)
  for (const section of sections.slice(isBetween ? 1 : 0))
    expect(section).toMatch(/^\d+\.\d+\.\d+ - \d{4}-\d\d-\d\d( \([0-9a-f]{7}\))?\n/)

  // Sections from 1.3.0 on are by reader.
  const headings = [
    'To do',
    'For organisers',
    'For operators',
    'For developers',
    'Added',
    'Changed',
    'Fixed',
    'Security',
  ]
  for (const section of sections) {
    const found = Array.from(section.matchAll(/^### (.+)$/gm), ([, heading = '']) => heading)
    expect(found).toEqual(headings.filter((heading) => found.includes(heading)))
    // Each change is below a heading.
    expect(section).not.toMatch(/^.+\n+- /)
  }
})

/** The commands and their options, with a value for those that take one. */
const commands: Record<string, string[]> = {
  applications: ['--json', '--csv', '--no-bom', '--delete=id', '--yes', '--all-about=ada@example.org'],
  webhooks: ['--list', '--retry', '--all'],
  verify: ['--url=https://project.example', '--key=key'],
  backup: ['--to=folder', '--check', '--from=folder'],
  restore: ['--from=folder', '--keep-erased'],
  organisers: [
    '--add=ada@example.org',
    '--link=ada@example.org',
    '--remove=ada@example.org',
    '--reset-factor=ada@example.org',
    '--new-key',
    '--name=Ada',
    '--reader',
  ],
  door: ['--close', '--open', '--until=time', '--after=100', '--sentence=text'],
  letters: ['--list', '--retry', '--stop', '--start'],
  doctor: ['--send=ada@example.org', '--json', '--quiet'],
}

test('the commands that operators rely on exist, with their options', async () => {
  const { scripts } = JSON.parse(await readFile('package.json', 'utf8')) as {
    scripts: Record<string, string>
  }
  expect(scripts).toMatchObject({
    start: 'exec node start.js',
    build: 'vite build',
    ...Object.fromEntries(Object.keys(commands).map((name) => [name, `exec node start.js ${name}`])),
  })
  const files = import.meta.glob<{ run: () => Promise<void> }>('../../../src/cli/commands/*.ts')
  const originalArguments = process.argv
  const printed = vi.spyOn(console, 'log').mockReturnValue()
  try {
    for (const [name, options] of Object.entries(commands)) {
      const command = await files[`../../../src/cli/commands/${name}.ts`]?.()
      // An unknown option is refused before the help appears.
      process.argv = ['node', 'start.js', ...options, '--help']
      await command?.run()
      expect(printed).toHaveBeenLastCalledWith(expect.stringMatching(`npm run (-s )?${name} --`))
    }
  } finally {
    process.argv = originalArguments
    printed.mockRestore()
  }
})

test('a CSV file has the promised columns in their order, and marks only at the desk', () => {
  const promised =
    'id,created_at,first_name,last_name,email,phone,linkedin,company,paid_solution,paid_solution_label,custom_solution,' +
    'team_size,team_size_label,reason,consent,status,answer,answered_at,marks,questions,edition,added_by,withdrawn_at,decided_by,decided_at,notes,letters\r\n'
  // Until 2.0 a new column is added before decided_by, here as well, and nothing else of this line changes.
  expect(csvHeader(tableColumns)).toBe(promised)
  expect(csvHeader(operatorColumns)).toBe(promised.replace('marks,', ''))
})

test('the webhook gets an application with the promised field names', () => {
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

test('no released migration was edited, and all others follow them', async () => {
  const listed = (await readFile(releasedList, 'utf8')).trim().split('\n')
  const current = await digestsOfMigrations()
  expect(
    listed.filter((line) => !current.includes(line)),
    'Restore these released migrations, and write new ones: databases that applied them refuse another text.',
  ).toEqual([])
  const unlisted = current.filter((line) => !listed.includes(line))
  expect(unlisted, 'Migrations since the last release come after the released ones.').toEqual(
    current.slice(current.length - unlisted.length),
  )
})

// break: migration-changes-stored-rows
test('a database of 1.0.0 is migrated with every row and state, and each due delivery is sent once', async () => {
  const postgres = await startPostgres()
  expect(await migrateDump(postgres)).toEqual(dumpMigrated)
})

// break: restore-keeps-new-templates
test('a backup of 1.0.0 is restored with every row and state, and nothing is delivered twice', async () => {
  const postgres = await startPostgres()
  expect(await restoreBackup(postgres)).toEqual(backupRestored)
})
