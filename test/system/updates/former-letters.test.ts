import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'

import { openTestDatabase } from '../../support/database.ts'
import { anApplication } from '../../support/form.ts'
import { startPostgres, type TestPostgres } from '../../support/postgres.ts'
import { temporaryDirectory } from '../../support/server.ts'
import { connectTo, valuesOf } from '../../support/sql.ts'
import { migrationsOf } from '../../support/released-migrations.ts'
import { backUp } from '../../../src/server/backups/backup.ts'
import { fileOf, manifestName, type Manifest } from '../../../src/server/backups/manifest.ts'
import { restore } from '../../../src/server/backups/restore.ts'
import { checkBackup } from '../../../src/server/backups/read-backup.ts'
import { migrate } from '../../../src/server/database/schema/migrate.ts'
import type { Sql } from '../../../src/server/database/connection/sql.ts'

let postgres: TestPostgres

beforeAll(async () => {
  postgres = await startPostgres()
})

/** A row of 1.0.1's letters, without the columns that its state determines. */
interface Former {
  state: string
  occasion?: string
  /** The number of the sending: 1 for the first, 2 after the letter was sent once. */
  edition?: number
  way?: 'mail' | 'automation'
  subject?: string | null
  from_template?: boolean
  act?: string | null
  released_at?: string | null
  withdrawn_at?: string
  withdrawn_by?: string
  /** The way in which the applicant was told without our mail server. */
  otherwise?: 'by hand' | 'told'
  uncertain?: number
  mailbox?: string
}

interface Case {
  rows: Former[]
  /** The letters and deliveries after the update, in the words of `outcomesOf`. */
  updated: string[]
  /** The letters and deliveries after a restore of the backup, if they differ from those after the update. */
  restored?: string[]
}

const act = '00000000-0000-4000-8000-000000000001'
const [noon, later] = ['2026-11-20T12:00:00Z', '2026-11-20T13:00:00Z']
const edited = { subject: 'Edited', from_template: false }
const personal = { occasion: '', subject: 'To you' }
const receipt = { occasion: 'received', mailbox: 'ada@example.org' }
/** Withdrawn before it was released. */
const discarded = { state: 'withdrawn', released_at: null, withdrawn_at: later, withdrawn_by: 'ada' }
/** Withdrawn after its release. */
const stopped = { state: 'withdrawn', withdrawn_at: later, withdrawn_by: 'ada' }

const cases: Record<string, Case> = {
  'a draft': { rows: [{ state: 'draft' }], updated: ['accepted draft'] },
  'an edited draft': { rows: [{ state: 'draft', ...edited }], updated: ['accepted draft "Edited"'] },
  'a draft of a letter that was sent before': {
    rows: [{ state: 'sent' }, { state: 'draft', edition: 2 }],
    updated: ['accepted draft', 'letter done'],
  },
  'a waiting letter': {
    rows: [{ state: 'waiting', from_template: true }],
    updated: ['accepted released', 'letter waiting'],
    restored: ['accepted draft', 'letter cancelled'],
  },
  'a waiting letter with an edited text': {
    rows: [{ state: 'waiting', ...edited }],
    updated: ['accepted released "Edited"', 'letter waiting'],
    restored: ['accepted draft "Edited"', 'letter cancelled'],
  },
  'a letter that is being sent': {
    rows: [{ state: 'sending', uncertain: 1 }],
    updated: ['accepted released "Hello"', 'letter sending, perhaps arrived'],
    restored: ['accepted draft "Hello"', 'letter cancelled, perhaps arrived'],
  },
  'a letter that is being sent while another decision is made': {
    rows: [
      { state: 'sending', occasion: 'declined', withdrawn_at: later, from_template: true },
      { state: 'draft' },
    ],
    updated: ['accepted draft', 'declined released', 'letter sending, recalled'],
    restored: ['accepted draft', 'declined dropped', 'letter cancelled, recalled'],
  },
  'a sent letter': { rows: [{ state: 'sent' }], updated: ['accepted released', 'letter done'] },
  'a letter that was sent twice': {
    rows: [{ state: 'sent' }, { state: 'sent', edition: 2, released_at: later }],
    updated: ['accepted released', 'letter done', 'letter done'],
  },
  'a letter that was sent by hand': {
    rows: [{ state: 'sent', otherwise: 'by hand' }],
    updated: ['accepted released', 'letter done by hand'],
  },
  'a letter whose applicant was contacted another way': {
    rows: [{ state: 'sent', otherwise: 'told' }],
    updated: ['accepted released', 'letter done by elsewhere'],
  },
  'a refused letter': {
    rows: [{ state: 'refused', ...edited }],
    updated: ['accepted released "Edited"', 'letter failed, refused'],
  },
  'a letter that was given up': {
    rows: [{ state: 'given up', from_template: true }],
    updated: ['accepted released', 'letter failed'],
  },
  'a letter that an organiser stopped': {
    rows: [stopped, { state: 'draft' }],
    updated: ['accepted draft', 'letter cancelled, recalled by ada'],
  },
  'a letter that another decision stopped': {
    rows: [{ state: 'withdrawn', occasion: 'declined', withdrawn_at: later }, { state: 'draft' }],
    updated: ['accepted draft', 'declined dropped', 'letter cancelled, recalled'],
  },
  'a stopped letter that may have arrived': {
    rows: [{ ...stopped, uncertain: 1 }],
    updated: ['accepted released', 'letter cancelled, recalled by ada, perhaps arrived'],
  },
  'a discarded draft': { rows: [{ ...discarded, ...edited }], updated: ['accepted dropped "Edited"'] },
  'a discarded draft of a letter that was sent before': {
    rows: [{ state: 'sent' }, { ...discarded, ...edited, edition: 2 }],
    updated: ['accepted dropped "Edited"', 'letter done'],
  },
  'letters to one person': {
    rows: [
      { ...personal, state: 'sent' },
      { ...personal, ...stopped, edition: 2 },
      { ...personal, ...discarded, edition: 3 },
      { ...personal, state: 'draft', edition: 4 },
    ],
    updated: [
      'letter cancelled, recalled by ada',
      'letter done',
      'one draft "To you"',
      'one dropped "To you"',
      'one dropped "To you"',
      'one released "To you"',
    ],
  },
  'a waiting letter to one person': {
    rows: [{ ...personal, state: 'waiting' }],
    updated: ['letter waiting', 'one released "To you"'],
    restored: ['letter cancelled', 'one draft "To you"'],
  },
  'an email, and a waiting webhook call beside it': {
    rows: [
      { state: 'sent', act },
      { state: 'waiting', act, way: 'automation' },
    ],
    updated: ['accepted released', 'decision beside waiting', 'letter done'],
    restored: ['accepted released', 'decision beside cancelled', 'letter done'],
  },
  'a stopped email, and a finished webhook call beside it': {
    rows: [{ ...stopped, act }, { state: 'sent', act, way: 'automation' }, { state: 'draft' }],
    updated: ['accepted draft', 'decision beside done', 'letter cancelled, recalled by ada'],
  },
  'a stopped email with a discarded draft, and a failed webhook call beside it': {
    rows: [{ ...stopped, act }, { state: 'given up', act, way: 'automation' }, discarded],
    updated: ['accepted dropped', 'decision beside failed', 'letter cancelled, recalled by ada'],
  },
  'a webhook call in place of an email': {
    rows: [{ state: 'sent', act, way: 'automation' }],
    updated: ['accepted released', 'decision done'],
  },
  'a letter without a template': {
    rows: [{ state: 'sent', occasion: 'Parking' }],
    updated: ['Parking released', 'letter done'],
  },
  'a receipt': { rows: [{ ...receipt, state: 'sent' }], updated: ['receipt done'] },
  'a receipt that waits': {
    rows: [{ ...receipt, state: 'waiting' }],
    updated: ['receipt waiting'],
    restored: ['receipt cancelled'],
  },
}

/** Creates a database of 1.0.1. It has an accepted applicant for each case, whose company is the case's name. */
async function createOlderDatabase(name: string) {
  await postgres.admin.unsafe(`create database ${name}`)
  const sql = connectTo(postgres.url(name), 2)
  await migrate(sql, { files: migrationsOf('1.0.1') })
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

/** Stores a letter of 1.0.1, with the columns that its state determines. */
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

/**
 * Reads each case's letters (template, state, subject) and deliveries (kind, state, and more about how it ended). A webhook call
 * that accompanies an email is a decision `beside`.
 */
async function outcomesOf(sql: Sql): Promise<Record<string, string[]>> {
  const rows = await sql<{ company: string; outcome: string }[]>`
    select company, coalesce(template, 'one') || ' ' || state || coalesce(' "' || subject || '"', '') as outcome
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
  for (const { company, outcome } of rows) outcomes[company]?.push(outcome)
  return outcomes
}

const expectedOutcomes = (outcomesIn: (given: Case) => string[]) =>
  Object.fromEntries(Object.entries(cases).map(([name, given]) => [name, outcomesIn(given).toSorted()]))
const sortOutcomes = (outcomes: Record<string, string[]>) =>
  Object.fromEntries(Object.entries(outcomes).map(([name, each]) => [name, each.toSorted()]))

/** Changes each letter of a backup, for example as if the backup was written before some columns existed. */
async function changeLetters(folder: string, change: (row: Record<string, unknown>) => object) {
  const file = join(folder, fileOf('private.letters'))
  const rows = (await readFile(file, 'utf8')).trim().split('\n')
  const text = rows
    .map((row) => `${JSON.stringify(change(JSON.parse(row) as Record<string, unknown>))}\n`)
    .join('')
  await writeFile(file, text)
  const manifest = JSON.parse(await readFile(join(folder, manifestName), 'utf8')) as Manifest
  const sha256 = createHash('sha256').update(text).digest('hex')
  manifest.files[fileOf('private.letters')] = { rows: rows.length, sha256, bytes: text.length }
  await writeFile(join(folder, manifestName), JSON.stringify(manifest))
}

test('an update and a restore convert letters of 1.0.1 in each of their states', async () => {
  const sql = await createOlderDatabase('former')
  const folder = join((await temporaryDirectory()).path, 'backup')
  await backUp(sql, folder)
  const drafts = await sql`select id from private.letters where state = 'draft' order by id`
  await migrate(sql)
  expect(sortOutcomes(await outcomesOf(sql))).toEqual(expectedOutcomes(({ updated }) => updated))
  // Open pages of the desk refer to drafts by id.
  expect(await sql`select id from private.letters where state = 'draft' order by id`).toEqual(drafts)

  const restored = await openTestDatabase()
  await restore(restored.owner, await checkBackup(folder))
  expect(sortOutcomes(await outcomesOf(restored.owner))).toEqual(
    expectedOutcomes(({ updated, restored: afterRestore = updated }) => afterRestore),
  )
})

test('a backup of 1.0.0, whose letters have fewer columns, is restored', async () => {
  const sql = await createOlderDatabase('first')
  const folder = join((await temporaryDirectory()).path, 'backup')
  await backUp(sql, folder)
  await changeLetters(folder, ({ otherwise, ...row }) => {
    for (const column of ['version', 'from_template', 'withdrawn_by', 'waits_since', 'closings', 'domain'])
      delete row[column]
    if (otherwise === 'by hand') row['answer'] = 'sent by hand'
    if (otherwise === 'told') row['answer'] = 'told otherwise'
    return row
  })
  const { owner } = await openTestDatabase()
  await restore(owner, await checkBackup(folder))
  const outcomes = await outcomesOf(owner)
  const withoutAuthor = (outcome: string) => outcome.replace(' by ada', '')
  for (const name of [
    'a letter that was sent by hand',
    'a letter whose applicant was contacted another way',
    'letters to one person',
  ])
    expect(outcomes[name]?.map(withoutAuthor).toSorted()).toEqual(
      cases[name]?.updated.map(withoutAuthor).toSorted(),
    )
  expect(await owner`select from private.deliveries where reply <> ''`).toEqual([])
  const count = (each: readonly string[]) => each.length
  expect(Object.values(outcomes).map(count)).toEqual(
    Object.values(cases).map(({ updated }) => updated.length),
  )
})
