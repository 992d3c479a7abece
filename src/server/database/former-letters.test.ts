import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'

import { openTestDatabase } from '../../../testing/database.ts'
import { anApplication } from '../../../testing/form.ts'
import { startPostgres, type TestPostgres } from '../../../testing/postgres.ts'
import { temporaryDirectory } from '../../../testing/server.ts'
import { connectTo, valuesOf } from '../../../testing/sql.ts'
import { backUp } from '../backups/backup.ts'
import { fileOf, manifestName, type Manifest } from '../backups/manifest.ts'
import { checkBackup, restore } from '../backups/restore.ts'
import { isReleased, migrations } from './migrations.ts'
import { migrate } from './schema.ts'
import type { Sql } from './sql.ts'

let postgres: TestPostgres

beforeAll(async () => {
  postgres = await startPostgres()
})

/** A row of the letters of 1.0.1, except what follows from its state. */
interface Former {
  state: string
  occasion?: string
  edition?: number
  way?: 'mail' | 'automation'
  subject?: string | null
  from_template?: boolean
  act?: string | null
  released_at?: string | null
  withdrawn_at?: string
  withdrawn_by?: string
  otherwise?: 'by hand' | 'told'
  uncertain?: number
  mailbox?: string
}

interface Case {
  rows: Former[]
  /** The letters and deliveries after the update. */
  is: string[]
  /** The same after a restore, where it settles something. */
  restored?: string[]
}

const act = '00000000-0000-4000-8000-000000000001'
const [noon, later] = ['2026-11-20T12:00:00Z', '2026-11-20T13:00:00Z']
const edited = { subject: 'Edited', from_template: false }
const personal = { occasion: '', subject: 'To you' }
const receipt = { occasion: 'received', mailbox: 'ada@example.org' }
/** Withdrawn before it was released. */
const taken = { state: 'withdrawn', released_at: null, withdrawn_at: later, withdrawn_by: 'ada' }
const stopped = { state: 'withdrawn', withdrawn_at: later, withdrawn_by: 'ada' }

const cases: Record<string, Case> = {
  'a draft': { rows: [{ state: 'draft' }], is: ['accepted draft'] },
  'an edited draft': { rows: [{ state: 'draft', ...edited }], is: ['accepted draft "Edited"'] },
  'a draft of what was sent before': {
    rows: [{ state: 'sent' }, { state: 'draft', edition: 2 }],
    is: ['accepted draft', 'letter done'],
  },
  'what waits': {
    rows: [{ state: 'waiting', from_template: true }],
    is: ['accepted released', 'letter waiting'],
    restored: ['accepted draft', 'letter cancelled'],
  },
  'what waits as somebody wrote it': {
    rows: [{ state: 'waiting', ...edited }],
    is: ['accepted released "Edited"', 'letter waiting'],
    restored: ['accepted draft "Edited"', 'letter cancelled'],
  },
  'what is being sent': {
    rows: [{ state: 'sending', uncertain: 1 }],
    is: ['accepted released "Hello"', 'letter sending, perhaps arrived'],
    restored: ['accepted draft "Hello"', 'letter cancelled, perhaps arrived'],
  },
  'what is being sent and was overtaken': {
    rows: [
      { state: 'sending', occasion: 'declined', withdrawn_at: later, from_template: true },
      { state: 'draft' },
    ],
    is: ['accepted draft', 'declined released', 'letter sending, recalled'],
    restored: ['accepted draft', 'declined dropped', 'letter cancelled, recalled'],
  },
  'what was sent': { rows: [{ state: 'sent' }], is: ['accepted released', 'letter done'] },
  'what was sent twice': {
    rows: [{ state: 'sent' }, { state: 'sent', edition: 2, released_at: later }],
    is: ['accepted released', 'letter done', 'letter done'],
  },
  'what was sent by hand': {
    rows: [{ state: 'sent', otherwise: 'by hand' }],
    is: ['accepted released', 'letter done by hand'],
  },
  'what was told another way': {
    rows: [{ state: 'sent', otherwise: 'told' }],
    is: ['accepted released', 'letter done by elsewhere'],
  },
  'what was refused': {
    rows: [{ state: 'refused', ...edited }],
    is: ['accepted released "Edited"', 'letter failed, refused'],
  },
  'what was given up': {
    rows: [{ state: 'given up', from_template: true }],
    is: ['accepted released', 'letter failed'],
  },
  'what an organiser stopped': {
    rows: [stopped, { state: 'draft' }],
    is: ['accepted draft', 'letter cancelled, recalled by ada'],
  },
  'what another decision stopped': {
    rows: [{ state: 'withdrawn', occasion: 'declined', withdrawn_at: later }, { state: 'draft' }],
    is: ['accepted draft', 'declined dropped', 'letter cancelled, recalled'],
  },
  'what was stopped and may have arrived': {
    rows: [{ ...stopped, uncertain: 1 }],
    is: ['accepted released', 'letter cancelled, recalled by ada, perhaps arrived'],
  },
  'a discarded draft': { rows: [{ ...taken, ...edited }], is: ['accepted dropped "Edited"'] },
  'a discarded draft of what was sent before': {
    rows: [{ state: 'sent' }, { ...taken, ...edited, edition: 2 }],
    is: ['accepted dropped "Edited"', 'letter done'],
  },
  'letters to one person': {
    rows: [
      { ...personal, state: 'sent' },
      { ...personal, ...stopped, edition: 2 },
      { ...personal, ...taken, edition: 3 },
      { ...personal, state: 'draft', edition: 4 },
    ],
    is: [
      'letter cancelled, recalled by ada',
      'letter done',
      'one draft "To you"',
      'one dropped "To you"',
      'one dropped "To you"',
      'one released "To you"',
    ],
  },
  'a letter to one person that waits': {
    rows: [{ ...personal, state: 'waiting' }],
    is: ['letter waiting', 'one released "To you"'],
    restored: ['letter cancelled', 'one draft "To you"'],
  },
  'a mail and what an automation is told beside it': {
    rows: [
      { state: 'sent', act },
      { state: 'waiting', act, way: 'automation' },
    ],
    is: ['accepted released', 'decision beside waiting', 'letter done'],
    restored: ['accepted released', 'decision beside cancelled', 'letter done'],
  },
  'a mail that was stopped and what an automation was told beside it': {
    rows: [{ ...stopped, act }, { state: 'sent', act, way: 'automation' }, { state: 'draft' }],
    is: ['accepted draft', 'decision beside done', 'letter cancelled, recalled by ada'],
  },
  'a mail that was taken away and what an automation could not be told beside it': {
    rows: [{ ...stopped, act }, { state: 'given up', act, way: 'automation' }, taken],
    is: ['accepted dropped', 'decision beside failed', 'letter cancelled, recalled by ada'],
  },
  'what an automation told in place of a mail': {
    rows: [{ state: 'sent', act, way: 'automation' }],
    is: ['accepted released', 'decision done'],
  },
  'a letter without a template': {
    rows: [{ state: 'sent', occasion: 'Parking' }],
    is: ['Parking released', 'letter done'],
  },
  'a receipt': { rows: [{ ...receipt, state: 'sent' }], is: ['receipt done'] },
  'a receipt that waits': {
    rows: [{ ...receipt, state: 'waiting' }],
    is: ['receipt waiting'],
    restored: ['receipt cancelled'],
  },
}

/** A database of 1.0.1, with an accepted applicant for each case. */
async function olderDatabase(name: string) {
  await postgres.admin.unsafe(`create database ${name}`)
  const sql = connectTo(postgres.url(name), 2)
  await migrate(sql, { files: migrations.filter((each) => isReleased(each)) })
  const applicants = Object.keys(cases).map((company) => ({
    ...anApplication({ company, email: `${crypto.randomUUID()}@example.com` }),
  }))
  await sql`insert into public.retreat_applications ${valuesOf(applicants)}`
  await sql`
    insert into private.statuses (application_id, created_at, status, version)
    select id, created_at, 'accepted', 1 from public.retreat_applications`
  await sql`delete from private.letters`
  for (const [company, { rows }] of Object.entries(cases)) {
    for (const row of rows) await storeLetter(sql, company, row)
  }
  return sql
}

/** Stores a row with what follows from its state. */
async function storeLetter(sql: Sql, company: string, given: Former) {
  const { state, released_at = state === 'draft' ? null : noon } = given
  const subject = released_at === null ? null : 'Hello'
  const row = {
    occasion: 'accepted',
    due_at: state === 'waiting' || state === 'sending' ? later : null,
    sent_at: state === 'sent' ? released_at : null,
    author: released_at === null ? null : 'ada',
    subject,
    ...given,
    released_at,
  }
  const [application] = await sql<[{ id: string }]>`
    select id from public.retreat_applications where company = ${company}`
  await sql`
    insert into private.letters ${valuesOf({ ...row, body: row.subject, application_id: application.id })}`
}

/** The outcome of each case's rows. */
async function outcomesOf(sql: Sql): Promise<Record<string, string[]>> {
  const rows = await sql<{ company: string; is: string }[]>`
    select company, coalesce(template, 'one') || ' ' || state || coalesce(' "' || subject || '"', '') as is
      from private.letters join public.retreat_applications as application on application.id = application_id
    union all
    select company, kind || case when is_beside then ' beside ' else ' ' end || state
        || case by when 'server' then '' else ' by ' || by end || case when is_refused then ', refused' else '' end
        || case when recalled_at = ${later} then ', recalled' || coalesce(' by ' || recalled_by, '') else '' end
        || case when may_have_arrived > 0 then ', perhaps arrived' else '' end
      from private.deliveries join public.retreat_applications as application on application.id = application_id
      where kind <> 'application'
    order by 1, 2`
  const outcomes: Record<string, string[]> = Object.fromEntries(Object.keys(cases).map((name) => [name, []]))
  for (const { company, is } of rows) outcomes[company]?.push(is)
  return outcomes
}

const expected = (of: (given: Case) => string[]) =>
  Object.fromEntries(Object.entries(cases).map(([name, given]) => [name, of(given).toSorted()]))
const sorted = (outcomes: Record<string, string[]>) =>
  Object.fromEntries(Object.entries(outcomes).map(([name, is]) => [name, is.toSorted()]))

/** Removes columns from the letters of a backup, as if it was written before they existed. */
async function withoutColumns(folder: string, change: (row: Record<string, unknown>) => object) {
  const file = join(folder, fileOf('private.letters'))
  const rows = (await readFile(file, 'utf8')).trim().split('\n')
  const text = rows
    .map((row) => `${JSON.stringify(change(JSON.parse(row) as Record<string, unknown>))}\n`)
    .join('')
  await writeFile(file, text)
  const manifest = JSON.parse(await readFile(join(folder, manifestName), 'utf8')) as Manifest
  const sha256 = createHash('sha256').update(text).digest('hex')
  manifest.files[fileOf('private.letters')] = { rows: rows.length, sha256 }
  await writeFile(join(folder, manifestName), JSON.stringify(manifest))
}

test('an update and a restore convert letters of 1.0.1 in each of their states', async () => {
  const sql = await olderDatabase('former')
  const folder = join((await temporaryDirectory()).path, 'backup')
  await backUp(sql, folder)
  const drafts = await sql`select id from private.letters where state = 'draft' order by id`
  await migrate(sql)
  expect(sorted(await outcomesOf(sql))).toEqual(expected(({ is }) => is))
  // The desk's pages name them.
  expect(await sql`select id from private.letters where state = 'draft' order by id`).toEqual(drafts)

  const restored = await openTestDatabase()
  await restore(restored.owner, await checkBackup(folder))
  expect(sorted(await outcomesOf(restored.owner))).toEqual(
    expected(({ is, restored: settled = is }) => settled),
  )
})

test('a backup of 1.0.0, whose letters have fewer columns, is restored', async () => {
  const sql = await olderDatabase('first')
  const folder = join((await temporaryDirectory()).path, 'backup')
  await backUp(sql, folder)
  await withoutColumns(folder, ({ otherwise, ...row }) => {
    for (const column of ['version', 'from_template', 'withdrawn_by', 'waits_since', 'closings', 'domain'])
      delete row[column]
    if (otherwise === 'by hand') row['answer'] = 'sent by hand'
    if (otherwise === 'told') row['answer'] = 'told otherwise'
    return row
  })
  const { owner } = await openTestDatabase()
  await restore(owner, await checkBackup(folder))
  const outcomes = await outcomesOf(owner)
  for (const name of ['what was sent by hand', 'what was told another way', 'letters to one person'])
    expect(outcomes[name]?.map((is) => is.replace(' by ada', '')).toSorted()).toEqual(
      cases[name]?.is.map((is) => is.replace(' by ada', '')).toSorted(),
    )
  expect(await owner`select from private.deliveries where reply <> ''`).toEqual([])
  const count = (each: readonly string[]) => each.length
  expect(Object.values(outcomes).map(count)).toEqual(Object.values(cases).map(({ is }) => is.length))
})
