import { createHash } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { storeAcceptedApplicant } from '../../../test/support/accepted.ts'
import { setRetreat } from '../../../test/support/calendars.ts'
import { openTestDatabase } from '../../../test/support/database.ts'
import { anApplication } from '../../../test/support/form.ts'
import { recordLog } from '../../../test/support/mail-sender.ts'
import { startReceiver } from '../../../test/support/receiver.ts'
import { temporaryDirectory } from '../../../test/support/server.ts'
import { valuesOf } from '../../../test/support/sql.ts'
import { addOrganiser, listOrganisers, removeOrganiser } from '../auth/manage-organisers.ts'
import { startDispatcher } from '../deliveries/webhook-worker.ts'
import type { Database } from '../database/database.ts'
import { backUp } from './backup.ts'
import { checkRestore } from './trial-restore.ts'
import { fileOf, manifestName, type Manifest } from './manifest.ts'
import { deliveries } from './tables.ts'
import { checkBackup } from './read-backup.ts'
import { restore } from './restore.ts'
import { triggers } from './triggers.ts'

/** Starts an automation: a webhook receiver, and a dispatcher that sends RSVPs to it. From now on the database queues RSVPs. */
async function startAutomation({ owner, server }: Database) {
  await owner`update private.postman set automation_seen_at = now()`
  const receiver = await startReceiver()
  const dispatcher = startDispatcher({
    sql: server,
    kind: 'rsvp',
    receiver: { url: receiver.origin, secret: undefined },
    log: recordLog().log,
    interval: 50,
  })
  return {
    receiver,
    async stop() {
      await dispatcher.stop()
      await receiver.close()
    },
  }
}

/** Removes a table from a backup, as if the backup was written before the table existed. */
async function removeTable(folder: string, table: string) {
  await rm(join(folder, fileOf(table)))
  const manifest = JSON.parse(await readFile(join(folder, manifestName), 'utf8')) as Manifest
  const { [fileOf(table)]: _, ...files } = manifest.files
  await writeFile(join(folder, manifestName), JSON.stringify({ ...manifest, files }))
}

/** Replaces the rows of a table in a backup. */
async function replaceRows(folder: string, table: string, rows: object[]) {
  const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  await writeFile(join(folder, fileOf(table)), text)
  const manifest = JSON.parse(await readFile(join(folder, manifestName), 'utf8')) as Manifest
  const sha256 = createHash('sha256').update(text).digest('hex')
  const files = { ...manifest.files, [fileOf(table)]: { rows: rows.length, sha256 } }
  await writeFile(join(folder, manifestName), JSON.stringify({ ...manifest, files }))
}

const readWaitingRsvps = ({ owner }: Database) => owner<{ id: string }[]>`
  select id from private.deliveries where kind = 'rsvp' and due_at is not null`

test('after a restore an automation gets each waiting RSVP once, with its id, and no delivered RSVP again; a backup without deliveries queues none', async () => {
  const [from, to, older] = await Promise.all([openTestDatabase(), openTestDatabase(), openTestDatabase()])
  const directory = await temporaryDirectory()
  const folder = join(directory.path, 'backup')
  const first = await startAutomation(from)
  const somebody = await storeAcceptedApplicant(from.owner)
  const storeRsvp = (rsvp: string) =>
    from.owner`select public.answer_place(${somebody.token}, ${rsvp}, gen_random_uuid())`
  await storeRsvp('coming')
  await first.receiver.waitFor(1)
  await expect.poll(() => readWaitingRsvps(from)).toEqual([])
  await first.stop()
  await storeRsvp('not coming')
  const [pending] = await readWaitingRsvps(from)
  await backUp(from.owner, folder)

  // Restores into a database whose server is running.
  const second = await startAutomation(to)
  await restore(to.owner, await checkBackup(folder))
  const [delivered] = await second.receiver.waitFor(1)
  expect(delivered?.headers['webhook-id']).toBe(pending?.id)
  expect(new URLSearchParams(delivered?.body).get('answer')).toBe('not coming')
  await expect.poll(() => readWaitingRsvps(to)).toEqual([])
  await second.stop()
  expect(second.receiver.received).toHaveLength(1)

  // Restores the backup without the table of deliveries, which a backup of 1.0.0 lacks.
  await removeTable(folder, deliveries)
  await older.owner`update private.postman set automation_seen_at = now()`
  await restore(older.owner, await checkBackup(folder))
  expect(await older.owner`select from private.history where kind = 'answer'`).toHaveLength(2)
  expect(await older.owner`select from private.deliveries`).toEqual([])
})

// break: restored-account-without-code
test('an organiser whom an older version stored with an international domain signs in after a restore', async () => {
  const [from, to] = await Promise.all([openTestDatabase(), openTestDatabase()])
  const folder = join((await temporaryDirectory()).path, 'backup')
  for (const email of ['ada@münchen.example', 'bob@münchen.example', 'bob@xn--mnchen-3ya.example'])
    await addOrganiser(from.owner, email)
  await backUp(from.owner, folder)
  await restore(to.owner, await checkBackup(folder))
  const emails = async () => (await listOrganisers(to.owner)).map(({ email }) => email)
  const [ada, bob] = ['ada@xn--mnchen-3ya.example', 'bob@xn--mnchen-3ya.example']
  // Two accounts cannot have one address.
  expect(await emails()).toEqual([ada, 'bob@münchen.example', bob])
  // The command removes the account that can sign in, and then the other one.
  await removeOrganiser(to.owner, bob)
  expect(await emails()).toEqual([ada, 'bob@münchen.example'])
  await removeOrganiser(to.owner, bob)
  expect(await emails()).toEqual([ada])
})

test('a restore keeps the names of organisers, and a backup from before they had names is restored without', async () => {
  const [from, to, older] = await Promise.all([openTestDatabase(), openTestDatabase(), openTestDatabase()])
  const folder = join((await temporaryDirectory()).path, 'backup')
  await addOrganiser(from.owner, 'ada@example.org', { name: 'Ada' })
  const stored = await from.owner<{ name: string }[]>`select * from private.organisers`
  const nameless = stored.map((row) => {
    const { name: _, ...others } = row
    return others
  })
  const names = async ({ owner }: Database) => (await listOrganisers(owner)).map(({ name }) => name)
  await backUp(from.owner, folder)
  await restore(to.owner, await checkBackup(folder))
  expect(await names(to)).toEqual(['Ada'])
  await replaceRows(folder, 'private.organisers', nameless)
  await restore(older.owner, await checkBackup(folder))
  expect(await names(older)).toEqual([null])
})

test('a restore keeps withdrawals and their links, and a backup from before them is restored without', async () => {
  const [from, to, older] = await Promise.all([openTestDatabase(), openTestDatabase(), openTestDatabase()])
  const folder = join((await temporaryDirectory()).path, 'backup')
  const [{ id }] = await from.owner<[{ id: string }]>`
    insert into public.retreat_applications ${valuesOf({ ...anApplication() })} returning id`
  const [{ token }] = await from.owner<[{ token: string }]>`
    insert into private.withdrawal_links (application_id) values (${id}) returning token`
  await from.owner`select public.withdraw_application(${token}, true, gen_random_uuid())`
  const stateIn = async ({ owner }: Database) => {
    const [row] = await owner<[{ state: string }]>`
      select public.withdrawal_by_token(${token}) ->> 'state' as state`
    return row.state
  }
  await backUp(from.owner, folder)
  await restore(to.owner, await checkBackup(folder))
  expect(await stateIn(to)).toBe('withdrawn')
  await removeTable(folder, 'private.withdrawal_links')
  await replaceRows(folder, 'private.statuses', [])
  await restore(older.owner, await checkBackup(folder))
  expect(await stateIn(older)).toBe('invalid')
})

test('a backup from before the page had words shows no days that its retreat had, and a retreat without days shows later ones', async () => {
  const [from, to] = await Promise.all([openTestDatabase(), openTestDatabase()])
  const shown = async ({ owner }: Database) =>
    owner`select shows_days, shows_venue, shows_closing from private.page`
  for (const [starts_on, shows] of [
    [null, true],
    ['2027-06-12', false],
  ] as const) {
    const folder = join((await temporaryDirectory()).path, 'backup')
    await from.owner`update private.editions set starts_on = ${starts_on}, ends_on = ${starts_on}`
    await backUp(from.owner, folder)
    await removeTable(folder, 'private.page')
    await restore(to.owner, await checkBackup(folder))
    expect(await shown(to)).toEqual([{ shows_days: shows, shows_venue: shows, shows_closing: shows }])
  }
})

test('a restored retreat is the same event in calendars, and a template named like the confirmation keeps its text', async () => {
  const [from, to] = await Promise.all([openTestDatabase(), openTestDatabase()])
  const folder = join((await temporaryDirectory()).path, 'backup')
  await setRetreat(from.owner, { starts_on: '2027-03-12', ends_on: '2027-03-15', venue: 'Bernau' })
  await from.owner`update private.letter_settings set confirmations = true`
  const stored = ({ owner }: Database) => owner`
    select private.retreat(1), confirmations from private.letter_settings`
  await backUp(from.owner, folder)
  await restore(to.owner, await checkBackup(folder))
  expect(await stored(to)).toEqual(await stored(from))

  // A backup from before confirmations existed, whose organisers had a template of this name.
  const older = await openTestDatabase()
  const template = { name: 'confirmed', version: 3, subject: 'Travel', body: 'By train.' }
  await replaceRows(folder, 'private.templates', [template])
  await restore(older.owner, await checkBackup(folder))
  expect(await older.owner`select * from private.templates where name = 'confirmed'`).toEqual([template])
})

test('a restore brings questions and answers back, and erases private answers that were due to be erased', async () => {
  const [from, to, later] = await Promise.all([openTestDatabase(), openTestDatabase(), openTestDatabase()])
  const folder = join((await temporaryDirectory()).path, 'backup')
  const { id } = await storeAcceptedApplicant(from.owner)
  await from.owner`
    with asked as (
      insert into private.questions (edition, position, kind, text, is_required, is_private)
      values (1, 1, 'short', 'Arrival?', true, false), (1, 2, 'long', 'Allergies?', false, true) returning id, text
    )
    insert into private.question_answers (application_id, question_id, answer) select ${id}, id, text from asked`
  await from.owner`update private.editions set private_days = 30`
  const answersIn = ({ owner }: Database) => owner`
    select application_id, answer, answered_at, text, kind, is_private
    from private.question_answers join private.questions on questions.id = question_id order by position`
  await backUp(from.owner, folder)
  expect(await restore(to.owner, await checkBackup(folder))).toMatchObject({ erasedAnswers: 0 })
  expect(await answersIn(to)).toEqual(await answersIn(from))

  await from.owner`
    update private.editions set starts_on = private.today() - 31, ends_on = private.today() - 30`
  const laterFolder = join((await temporaryDirectory()).path, 'backup')
  await backUp(from.owner, laterFolder)
  expect(await restore(later.owner, await checkBackup(laterFolder))).toMatchObject({ erasedAnswers: 1 })
  expect(await answersIn(later)).toMatchObject([{ answer: 'Arrival?' }])
})

// break: restore-brings-back-private-answers
test('a restore erases private answers again that were erased after the backup, but not those that were given again', async () => {
  const [from, to, later] = await Promise.all([openTestDatabase(), openTestDatabase(), openTestDatabase()])
  const [first, second] = [
    await storeAcceptedApplicant(from.owner),
    await storeAcceptedApplicant(from.owner, { email: 'grace@example.com' }),
  ]
  await from.owner`
    insert into private.questions (edition, position, kind, text, is_required, is_private)
    values (1, 1, 'long', 'Allergies?', false, true), (1, 2, 'short', 'Arrival?', false, false)`
  const answer = ({ id }: { id: string }) => from.owner`
    insert into private.question_answers (application_id, question_id, answer)
    select ${id}, id, text from private.questions on conflict do nothing`
  await answer(first)
  await answer(second)
  const endRetreat = (daysAgo: number) => from.owner`
    update private.editions set starts_on = private.today() - ${daysAgo}::integer, ends_on = private.today() - ${daysAgo}::integer`
  await from.owner`update private.editions set private_days = 90`
  await endRetreat(48)
  const folder = join((await temporaryDirectory()).path, 'backup')
  await backUp(from.owner, folder)
  await from.owner`update private.editions set private_days = 30`
  await from.owner`select private.erase_due_answers('server')`
  const listed = async () => {
    const rows = await from.owner<{ digest: string }[]>`select digest from private.erasures`
    return new Set(rows.map(({ digest }) => digest))
  }
  expect((await listed()).size).toBe(2)
  const privateAnswersIn = ({ owner }: Database) => owner`
    select application_id from private.question_answers where answer = 'Allergies?'`
  expect(await restore(to.owner, await checkBackup(folder), { erased: await listed() })).toMatchObject({
    erased: 0,
    erasedAnswers: 2,
  })
  expect(await privateAnswersIn(to)).toEqual([])
  expect(await to.owner`select from private.question_answers`).toHaveLength(2)
  expect(await to.owner`select author, detail from private.history where kind = 'questions'`).toEqual([
    { author: 'operator', detail: { erased: 2 } },
  ])
  // The next backup of the restored database has the digests too.
  expect(await to.owner`select from private.erasures`).toHaveLength(2)

  // The retreat is put off, and a guest answers again.
  await endRetreat(-48)
  await answer(first)
  const laterFolder = join((await temporaryDirectory()).path, 'backup')
  await backUp(from.owner, laterFolder)
  await restore(later.owner, await checkBackup(laterFolder), { erased: await listed() })
  expect(await privateAnswersIn(later)).toEqual([{ application_id: first.id }])
})

test('a restore has a rule for each trigger, and all triggers are enabled afterwards', async () => {
  const [from, to] = await Promise.all([openTestDatabase(), openTestDatabase()])
  const directory = await temporaryDirectory()
  await backUp(from.owner, join(directory.path, 'backup'))
  await restore(to.owner, await checkBackup(join(directory.path, 'backup')))
  const triggersAfter = await to.owner<{ trigger: string; enabled: string }[]>`
    select tgrelid::regclass || ' ' || tgname as trigger, tgenabled as enabled from pg_trigger
    where not tgisinternal order by 1`
  const named = (table: string, name: string) => `${table.replace(/^public\./, '')} ${name}`
  expect(triggersAfter.map(({ trigger }) => trigger)).toEqual(
    triggers.map(({ table, name }) => named(table, name)).toSorted(),
  )
  expect(triggersAfter.filter(({ enabled }) => enabled !== 'O')).toEqual([])
})

test('a restore replaces the visits of the same days, and a check of the backup compares each row', async () => {
  const [from, to, scratch] = await Promise.all([openTestDatabase(), openTestDatabase(), openTestDatabase()])
  const directory = await temporaryDirectory()
  const folder = join(directory.path, 'backup')
  const count = ({ server }: Database, source: string, visits: number) =>
    server`select private.count_visits(${JSON.stringify([{ source, visits, starts: 1 }])}::text::jsonb)`
  const stored = ({ owner }: Database) =>
    owner`select day, source, visits, starts from private.visits order by day, source`
  await count(from, 'mail', 2)
  await from.owner`update private.visits set day = day - 1`
  await count(from, 'mail', 3)
  await count(from, '', 4)
  await backUp(from.owner, folder)

  // The server of the new database has already counted.
  await Promise.all([count(to, 'mail', 50), count(scratch, 'mail', 50), count(scratch, 'mail-2', 60)])
  await restore(to.owner, await checkBackup(folder))
  expect(await stored(to)).toEqual(await stored(from))
  await checkRestore(scratch.owner, await checkBackup(folder))
})
