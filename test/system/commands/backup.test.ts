import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, watch } from 'node:fs'
import { cp, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

import { openDatabase } from '../../../src/server/database/database.ts'
import { migrate } from '../../../src/server/database/schema/migrate.ts'
import { send } from '../../support/send-application.ts'
import { anApplication } from '../../support/form.ts'
import { signInByLink } from '../../support/sign-in-by-link.ts'
import { startPostgres } from '../../support/postgres.ts'
import { startReceiver } from '../../support/receiver.ts'
import { prepareDatabase, runCommand, startServer, temporaryDirectory } from '../../support/server.ts'
import { migrationsOf } from '../../support/released-migrations.ts'
import { mountSmallDisk } from '../../support/small-disk.ts'
import { connectToEmbedded, valuesOf } from '../../support/sql.ts'

const idsOf = (stdout: string) =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { id: string; email: string })

test('a backup that is taken during inserts is restored completely, and nothing is delivered twice', async () => {
  const directory = await temporaryDirectory()
  const original = await prepareDatabase(join(directory.path, 'original'))
  const copy = { DATA_DIR: join(directory.path, 'copy') }
  const folder = join(directory.path, 'backup')

  // Before the backup, some deliveries succeed and others are refused. Those of applications sent during the backup are pending.
  let isRefusing = false
  const hook = await startReceiver((_request, response) => response.writeHead(isRefusing ? 500 : 200).end())
  const delivering = await startServer({ ...original, WEBHOOK_URL: hook.origin })
  const delivered = Array.from({ length: 20 }, () =>
    anApplication({ reason: 'a\n"b",c\\.\r\n\u2028\u0085'.repeat(1_000) }),
  )
  for (const application of delivered) await send(delivering.origin, application)
  await hook.waitFor(delivered.length)
  isRefusing = true
  const refused = Array.from({ length: 5 }, () => anApplication())
  for (const application of refused) await send(delivering.origin, application)
  await hook.waitFor(delivered.length + refused.length)
  await delivering.stop()
  const server = await startServer(original)

  const meanwhile: string[] = []
  let isBackedUp = false
  const sending = (async () => {
    while (!isBackedUp) {
      const application = anApplication()
      if ((await send(server.origin, application)) === 201) meanwhile.push(application.email)
    }
  })()
  const backup = await runCommand(['backup', '--to', folder], original)
  isBackedUp = true
  await sending
  expect(backup).toMatchObject({ code: 0, stderr: expect.stringMatching(/^Using .*\n$/) as string })
  const listed = idsOf((await runCommand(['applications', '--json'], original)).stdout)
  const deliveredIds = new Set(
    listed.filter(({ email }) => delivered.some((one) => one.email === email)).map(({ id }) => id),
  )
  await server.stop()

  const restored = await runCommand(['restore', '--from', folder], copy)
  expect(restored).toMatchObject({ code: 0, stderr: expect.stringMatching(/^Using .*\n$/) as string })
  const rows = idsOf((await runCommand(['applications', '--json'], copy)).stdout)
  expect(restored.stdout).toContain(`Restored ${rows.length} applications`)
  expect(backup.stdout).toContain(`Wrote ${rows.length} applications`)
  const emails = new Set(rows.map(({ email }) => email))
  for (const { email } of [...delivered, ...refused]) expect(emails).toContain(email)
  // The backup is a snapshot: of the applications that were sent during the backup, it has all that precede a certain moment.
  const backedUpMeanwhile = meanwhile.filter((email) => emails.has(email))
  expect(backedUpMeanwhile).toEqual(meanwhile.slice(0, backedUpMeanwhile.length))
  expect(rows).toHaveLength(delivered.length + refused.length + backedUpMeanwhile.length)
  const originals = new Map(listed.map((row) => [row.id, row]))
  expect(rows).toEqual(rows.map(({ id }) => originals.get(id)))

  // The pending deliveries are made once, and the earlier ones are not repeated.
  const hookOfCopy = await startReceiver()
  const restoredServer = await startServer({ ...copy, WEBHOOK_URL: hookOfCopy.origin })
  const last = anApplication()
  expect(await send(restoredServer.origin, last)).toBe(201)
  const expected = refused.length + backedUpMeanwhile.length + 1
  const deliveries = await hookOfCopy.waitFor(expected)
  const ids = deliveries.map(({ headers }) => headers['webhook-id'])
  expect(new Set(ids).size).toBe(expected)
  expect(ids.filter((id) => deliveredIds.has(String(id)))).toEqual([])
  expect(await send(restoredServer.origin, refused[0] ?? last)).toBe(409)
  await restoredServer.stop()
  expect((await runCommand(['webhooks'], copy)).stdout).toMatch(
    new RegExp(`^delivered +${rows.length + 1}$`, 'm'),
  )
  expect(hookOfCopy.received).toHaveLength(expected)
})

/** Reads the stored data of the desk from the database of a running server. */
async function deskOf(dataDir: string) {
  const database = connectToEmbedded(dataDir)
  const rows = {
    statuses: await database`select * from private.statuses order by application_id`,
    history: await database`select * from private.history order by id`,
    door: await database`select *, opened_at::text from private.door`,
    organisers: await database`select * from private.organisers`,
    templates: await database`select * from private.templates order by name`,
    letterSettings: await database`select * from private.letter_settings`,
    letters: await database`select * from private.letters order by id`,
    deliveries: await database`select * from private.deliveries where kind <> 'application' order by id`,
    invitations: await database`select * from private.invitations order by application_id`,
    places: await database`select version, places, days, zone from private.places`,
    postman: await database`select stopped, problem from private.postman`,
    // Backups do not contain this table. A restore rebuilds it.
    searched: await database`select * from private.search_vectors`,
    applications: await database<{ id: string }[]>`select id from public.retreat_applications order by id`,
  }
  await database.end()
  return rows
}

test('a restore brings back decisions, notes, letters, settings and RSVPs, and a closed door', async () => {
  const directory = await temporaryDirectory()
  const original = await prepareDatabase(join(directory.path, 'original'))
  const copy = await prepareDatabase(join(directory.path, 'copy'))
  const folder = join(directory.path, 'backup')
  const server = await startServer(original)
  const stored = [anApplication({ reason: 'a long one '.repeat(500) }), anApplication()]
  for (const application of stored) await send(server.origin, application)
  const link = await runCommand(['organisers', '--add', 'ada@example.org'], original)
  const { client } = await signInByLink(server.origin, link.stdout)
  const [first, second] = (await deskOf(original.DATA_DIR)).applications.map(({ id }) => id)
  const act = () => crypto.randomUUID()
  const decisions = [
    { id: first, status: 'accepted', version: 0 },
    { id: second, status: 'declined', version: 0 },
  ]
  for (const { error } of [
    await client.rpc('desk_decide', { act: act(), decisions }),
    await client.rpc('desk_note', { act: act(), application: first, note: 'Has a cabin: "yes"\n\u2028' }),
    await client.rpc('desk_set_template', {
      occasion: 'Travel',
      version: null,
      subject: 'How to get there',
      body: 'By train.',
    }),
    await client.rpc('desk_set_letters', { version: 0, reply_to: 'desk@example.org' }),
    await client.rpc('desk_set_places', { version: 0, places: 40, days: 7 }),
    await client.rpc('desk_set_answer', { act: act(), application: first, answer: 'coming' }),
    await client.rpc('desk_set_blind', { blind: true }),
  ])
    expect(error).toBeNull()
  // Stores a letter that a mail sender is sending, and its delivery to the automation, which waits until the letter is sent.
  const database = connectToEmbedded(original.DATA_DIR)
  const letterAct = act()
  await database`
    with letter as (update private.letters set state = 'released' where template = 'accepted' returning id, application_id)
    insert into private.deliveries (kind, application_id, letter_id, state, subject, body, due_at, attempts, author, act, is_beside)
    select kind, application_id, id, state, 'Welcome', 'Come!', now() + interval '1 hour', attempts, 'ada@example.org', ${letterAct},
      kind = 'decision'
    from letter, (values ('letter', 'sending', 1), ('decision', 'waiting', 0)) as delivery (kind, state, attempts)`
  // Stores a letter that is delivered only to an automation.
  await database`
    with letter as (update private.letters set state = 'released' where template = 'declined' returning id, application_id)
    insert into private.deliveries (kind, application_id, letter_id, subject, body, act)
    select 'decision', application_id, id, 'Sorry', 'No.', ${act()} from letter`
  // Stores a receipt, and two letters that were withdrawn while they were sent: one by a decision, and a personal one by an
  // organiser.
  await database`
    with letter as (
      insert into private.letters (application_id, template, subject, body, state)
      select application_id, template, text, text, 'released'
      from private.statuses, (values ('waitlisted', null), (null, 'Hello')) as other (template, text) where status = 'accepted'
      returning id, application_id, template
    )
    insert into private.deliveries (kind, application_id, letter_id, state, subject, body, mailbox, recalled_at, recalled_by)
    select 'letter', application_id, id, 'sending', 's', 'b', null, now(), case when template is null then 'ada@example.org' end
    from letter
    union all select 'receipt', application_id, null, 'waiting', 's', 'b', 'ada@example.org', null, null
    from private.statuses where status = 'accepted'`
  await database.end()
  await runCommand(['door', '--close', '--sentence', 'See you next year.'], original)
  await runCommand(['letters', '--stop'], original)
  expect((await runCommand(['backup', '--to', folder], original)).code).toBe(0)
  const before = await deskOf(original.DATA_DIR)
  expect(before.searched).toHaveLength(1)
  expect(before.statuses).toHaveLength(2)
  expect(before.history.map(({ kind }) => String(kind))).toEqual([
    'status',
    'status',
    'note',
    'letters',
    'letters',
    'places',
    'answer',
    'blind',
    'door',
    'letters',
  ])
  expect(before.deliveries.map(({ kind, state }) => `${String(kind)}: ${String(state)}`).toSorted()).toEqual([
    'decision: waiting',
    'decision: waiting',
    'letter: sending',
    'letter: sending',
    'letter: sending',
    'receipt: waiting',
  ])
  expect(before.invitations).toMatchObject([{ is_accepted: true, rsvp: 'coming' }])
  expect(before.places).toMatchObject([{ version: 1, places: 40, days: 7 }])
  expect(before.organisers).toMatchObject([{ blind: true }])
  expect(before.door).toMatchObject([{ closed: true, sentence: 'See you next year.' }])
  expect(before.postman).toEqual([{ stopped: true, problem: '' }])
  await server.stop()

  expect((await runCommand(['restore', '--from', folder], copy)).code).toBe(0)
  const restored = await startServer(copy)
  // A restore cancels pending letters, because the original server may have sent them after the backup.
  const anyTime = expect.any(Date) as Date
  const letters = before.letters.map((letter) => ({
    ...letter,
    state: letter['template'] === 'waitlisted' ? 'dropped' : 'draft',
    drafted_at: anyTime,
  }))
  const deliveries = before.deliveries.map((delivery) => ({
    ...delivery,
    state: 'cancelled',
    due_at: null,
    recalled_at: anyTime,
  }))
  expect(await deskOf(copy.DATA_DIR)).toEqual({ ...before, letters, deliveries })
  expect(await send(restored.origin, anApplication())).toBe(403)
  expect(await send(restored.origin, stored[0] ?? anApplication())).toBe(409)

  // New events follow the restored ones in the history.
  const next = await runCommand(['organisers', '--link', 'ada@example.org'], copy)
  const restoredClient = (await signInByLink(restored.origin, next.stdout)).client
  const note = { act: act(), application: first, note: 'And a boat.' }
  expect((await restoredClient.rpc('desk_note', note)).data).toMatchObject([
    { kind: 'status', author: 'ada@example.org' },
    { kind: 'note', detail: { note: 'Has a cabin: "yes"\n\u2028' } },
    { kind: 'answer', detail: { answer: 'coming' } },
    { kind: 'note', detail: { note: 'And a boat.' } },
  ])
  await restored.stop()

  // A database without applications may have a history, which would be mixed with the restored one.
  await rm(copy.DATA_DIR, { recursive: true })
  await prepareDatabase(copy.DATA_DIR)
  await runCommand(['door', '--close'], copy)
  const refused = await runCommand(['restore', '--from', folder], copy)
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toMatch(/The database holds a history of the desk already: .*\n$/)
})

test('a database of a version without desk and receipts is backed up, and restored into a database whose door stays closed', async () => {
  const directory = await temporaryDirectory()
  const original = await prepareDatabase(join(directory.path, 'original'))
  const copy = await prepareDatabase(join(directory.path, 'copy'))
  const folder = join(directory.path, 'backup')
  const server = await startServer(original)
  const application = anApplication()
  expect(await send(server.origin, application)).toBe(201)
  await runCommand(['organisers', '--add', 'ada@example.org'], original)
  const database = connectToEmbedded(original.DATA_DIR)
  await database`drop table private.statuses, private.history, private.door cascade`
  await database`alter table private.organisers drop column blind`
  await database`delete from private.templates where name = 'received'`
  await database`update private.templates set subject = 'Come!' where name = 'accepted'`
  await database`delete from supabase_migrations.schema_migrations where version >= '20261122090000'`
  await database.end()
  expect(await runCommand(['backup', '--to', folder], original)).toMatchObject({
    code: 0,
    stdout: `Wrote 1 application and the account of 1 organiser into ${folder}.\n`,
  })
  expect((await readdir(folder)).filter((file) => /statuses|history|door/.test(file))).toEqual([])
  await server.stop()

  await runCommand(['door', '--close'], copy)
  expect((await runCommand(['restore', '--from', folder], copy)).code).toBe(0)
  const restored = await startServer(copy)
  expect(await deskOf(copy.DATA_DIR)).toMatchObject({
    statuses: [],
    history: [{ kind: 'door' }],
    door: [{ closed: true }],
    organisers: [{ blind: false }],
  })
  const restoredDatabase = connectToEmbedded(copy.DATA_DIR)
  expect(
    await restoredDatabase`
      select name, subject from private.templates where name in ('accepted', 'received') order by 1`,
  ).toEqual([
    { name: 'accepted', subject: 'Come!' },
    { name: 'received', subject: 'We have your application' },
  ])
  await restoredDatabase.end()
  expect(await send(restored.origin, application)).toBe(409)
  expect(await send(restored.origin, anApplication())).toBe(403)
})

test('applications of the longest form answers are backed up, checked, restored and listed in little memory', async () => {
  // All of them as JSON are 250 MB. A batch of them takes up to 100.
  const count = 150
  const directory = await temporaryDirectory()
  const { DATA_DIR } = await prepareDatabase(join(directory.path, 'original'))
  const folder = join(directory.path, 'backup')
  const filled = await openDatabase({ dataDir: DATA_DIR, databaseUrl: undefined }, { schema: 'check' })
  // JSON escapes each character with six.
  await filled.owner`
    insert into public.retreat_applications (first_name, last_name, email, phone, linkedin, company, paid_solution,
      custom_solution, team_size, reason, consent, created_at)
    select long, long, email, long, long, long, 'custom', repeat(long, 10), '3-10',
      repeat(long, 10), true, now() - n * interval '1 hour'
    from (select n, 'ada.' || n || '@example.org' as email, 'a' || repeat(chr(1), 9999) as long
      from generate_series(1, ${count}) as n) as rows`
  await filled.close()
  const settings = { DATA_DIR, TMPDIR: directory.path, NODE_OPTIONS: '--max-old-space-size=200' }
  const copy = { ...settings, DATA_DIR: join(directory.path, 'copy') }
  for (const [args, to] of [
    [['backup', '--to', folder], settings],
    [['backup', '--check', '--from', folder], settings],
    [['restore', '--from', folder], copy],
  ] as const) {
    const { code, stdout } = await runCommand([...args], to)
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining(`${count} applications`) as string,
    })
  }
  for (const [option, lines] of [
    ['--json', count],
    ['', count * 13 + 1],
  ] as const) {
    const counting = ['-c', `"${process.execPath}" start.js applications ${option} | wc -l`]
    const { stdout } = await promisify(execFile)('sh', counting, { env: { ...process.env, ...copy } })
    expect(Number(stdout)).toBe(lines)
  }
})

test('an impossible backup or restore is refused with one sentence and leaves no files', async () => {
  const directory = await temporaryDirectory()
  const settings = await prepareDatabase(join(directory.path, 'data'))
  const folder = join(directory.path, 'backup')
  const expectOneSentence = async (command: string[], sentence: RegExp) => {
    const { code, stdout, stderr } = await runCommand(command, settings)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(sentence)
    expect(
      stderr
        .replace(/^Using .*\n/, '')
        .trim()
        .split('\n'),
    ).toHaveLength(1)
  }

  const server = await startServer(settings)
  await send(server.origin, anApplication())
  await server.stop()
  expect((await runCommand(['backup', '--to', folder], settings)).code).toBe(0)
  await expectOneSentence(['backup', '--to', folder], /already exists/)
  await expectOneSentence(['backup', '--to', '/dev/null/backup'], /cannot be used/)
  await expectOneSentence(['restore', '--from', folder], /holds applications already/)

  await rm(settings.DATA_DIR, { recursive: true })
  const expectRefusal = async (sentence: RegExp) => {
    await expectOneSentence(['restore', '--from', folder], sentence)
    expect(existsSync(settings.DATA_DIR)).toBe(false)
  }
  await expectOneSentence(['restore', '--from', join(directory.path, 'nowhere')], /cannot be used/)
  const rows = join(folder, 'public.retreat_applications.jsonl')
  const whole = await readFile(rows, 'utf8')
  // A file that is empty because its only line was cut off is detected too.
  for (const damaged of [whole.slice(0, -20), '', whole.repeat(2), '{"something": "else"}\n', 'no JSON\n']) {
    await writeFile(rows, damaged)
    await expectRefusal(/is not a whole backup: public\.retreat_applications\.jsonl/)
  }
  await writeFile(rows, whole)
  const deliveries = join(folder, 'private.deliveries.jsonl')
  const queued = await readFile(deliveries, 'utf8')
  await writeFile(deliveries, '')
  await expectRefusal(/is not a whole backup: private\.deliveries\.jsonl/)
  await writeFile(deliveries, queued)
  const manifest = await readFile(join(folder, 'manifest.json'), 'utf8')
  await rm(join(folder, 'manifest.json'))
  await expectRefusal(/is not a whole backup: it has no manifest\.json/)
  await writeFile(
    join(folder, 'manifest.json'),
    manifest.replace(/"schema": "\d+"/, '"schema": "29990101000000"'),
  )
  await expectRefusal(/was made by a newer version .*\(docs\/operate\.md#go-back\)\.$/m)
  await writeFile(join(folder, 'manifest.json'), manifest.replace('"format": 1', '"format": 2'))
  await expectRefusal(/is a backup of a format that this version does not read/)
  const { files: _files, ...withoutList } = JSON.parse(manifest) as Record<string, unknown>
  const damaged = ['null', '[]', '"1"', '{"format":1}', JSON.stringify(withoutList)]
  for (const text of [...damaged, JSON.stringify({ ...withoutList, files: { [basename(rows)]: null } })]) {
    await writeFile(join(folder, 'manifest.json'), text)
    await expectRefusal(/is not a whole backup: its manifest\.json was changed since the backup was written/)
    await expectOneSentence(
      ['backup', '--check', '--from', folder],
      /is not a whole backup: its manifest\.json/,
    )
  }
  // Only the database detects this error.
  const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')
  const nonsense = '{"something": "else"}\n'
  await writeFile(rows, nonsense)
  await writeFile(join(folder, 'manifest.json'), manifest.replace(hashOf(whole), hashOf(nonsense)))
  await expectRefusal(/is not a whole backup \(column "something"/)
  await writeFile(rows, whole)
  await writeFile(join(folder, 'manifest.json'), manifest)
  // A FIFO would block the restore, and /dev/zero would be read without end.
  await rm(deliveries)
  await promisify(execFile)('mkfifo', [deliveries])
  await expectRefusal(/is not a regular file/)
  await rm(deliveries)
  await symlink('/dev/zero', deliveries)
  await expectRefusal(/is not a regular file/)
  await rm(deliveries)
  await writeFile(deliveries, queued)
  expect((await runCommand(['restore', '--from', folder], settings)).code).toBe(0)
  expect((await readdir(directory.path)).toSorted()).toEqual(['backup', 'data'])
})

/** The folder of a database that is large enough that a backup takes a while. It is filled only once. */
const large = await temporaryDirectory()
let filling: Promise<void> | undefined
async function fillLargeDatabase() {
  const { DATA_DIR: path } = await prepareDatabase(join(large.path, 'data'))
  const database = await openDatabase({ dataDir: path, databaseUrl: undefined }, { schema: 'check' })
  await database.owner`
    insert into public.retreat_applications (first_name, last_name, email, phone, linkedin, company, reason, consent)
    select 'Ada', n, 'a', '1', 'in', 'c', repeat(md5(n::text), 500), true from generate_series(1, 3000) as n`
  await database.close()
}

/** Makes a copy of the large database. Returns the settings for it. */
async function copyLargeDatabase(path: string) {
  await (filling ??= fillLargeDatabase())
  await cp(join(large.path, 'data'), path, { recursive: true })
  return { DATA_DIR: path }
}

test('a backup leaves the files beside it alone, and no other user can read its files', async () => {
  const directory = await temporaryDirectory()
  const settings = await prepareDatabase(join(directory.path, 'data'))
  const folder = join(directory.path, 'photos')
  await mkdir(`${folder}.partial`)
  await writeFile(join(`${folder}.partial`, 'holiday.jpg'), 'x')
  expect((await runCommand(['backup', '--to', folder], settings)).code).toBe(0)
  expect(await readFile(join(`${folder}.partial`, 'holiday.jpg'), 'utf8')).toBe('x')
  for (const name of ['.', ...(await readdir(folder))]) {
    const { mode } = await stat(join(folder, name))
    expect({ name, forOthers: mode & 0o077 }).toEqual({ name, forOthers: 0 })
  }
})

test('a backup onto a full disk ends with one sentence and leaves no files', async ({ skip }) => {
  const directory = await temporaryDirectory()
  const settings = await copyLargeDatabase(join(directory.path, 'data'))
  const small = join(directory.path, 'small')
  await mountSmallDisk(small, '2m', skip)
  const { code, stdout, stderr } = await runCommand(['backup', '--to', join(small, 'backup')], settings)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^Using .*\nThe folder ".*" cannot be used \(ENOSPC.*\)\.\n$/)
  expect(await readdir(small)).toEqual([])
})

test('a command whose database is lost says so in one sentence, and blames no folder', async () => {
  const directory = await temporaryDirectory()
  const postgres = await startPostgres('database')
  const waiting = () =>
    postgres.admin<{ pid: number }[]>`select pid from pg_stat_activity where wait_event_type = 'Lock'`
  await postgres.admin.begin(async (sql) => {
    await sql`lock table public.retreat_applications in access exclusive mode`
    for (const [args, lose] of [
      [
        ['applications', '--json'],
        async () => postgres.admin`
        select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock'`,
      ],
      [['backup', '--to', join(directory.path, 'backup')], async () => postgres.closeConnections('RST')],
    ] as const) {
      const { code, stderr } = await runCommand(
        [...args],
        { DATABASE_URL: postgres.url() },
        undefined,
        async () => {
          await expect.poll(waiting).toHaveLength(1)
          await lose()
        },
      )
      expect(code).toBe(1)
      expect(stderr).toMatch(
        /^Using .*\nThe PostgreSQL at .*, which DATABASE_URL names, cannot be used \(.*\): .*\n$/,
      )
    }
  })
})

test('an interrupted backup leaves no files and no running database', async () => {
  const directory = await temporaryDirectory()
  const settings = await copyLargeDatabase(join(directory.path, 'data'))
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(process.execPath, ['start.js', 'backup', '--to', join(directory.path, 'backup')], {
    env: { PATH, HOME, ...settings },
  })
  let output = ''
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const watcher = watch(directory.path)
  await once(watcher, 'change')
  child.kill('SIGINT')
  const [code] = (await once(child, 'exit')) as [number]
  watcher.close()
  expect({ code, output }).toMatchObject({
    code: 130,
    output: expect.stringMatching(/Interrupted\.\n$/) as string,
  })
  expect(await readdir(directory.path)).toEqual(['data'])
  expect(await readdir(settings.DATA_DIR)).not.toContain('.s.PGSQL.5432')
})

/** The names of a server's automatic backups. A name that begins with a dot is an unfinished backup. */
const backupsIn = async (dir: string) => (await readdir(dir)).filter((name) => name !== 'erasures')
const digestOf = (id: string) => createHash('sha256').update(id).digest('hex')
const readiness = async ({ origin }: { origin: string }) => {
  const response = await fetch(`${origin}/readyz`)
  return { ...((await response.json()) as Record<string, unknown>), status: response.status }
}

// break: restore-brings-back-erased
test('a restore of an automatic backup erases again the applications that were erased after the backup, unless `--keep-erased` is given', async () => {
  const directory = await temporaryDirectory()
  const settings = await prepareDatabase(join(directory.path, 'data'))
  const dir = join(directory.path, 'backups')
  await mkdir(dir)
  const serverWithoutBackups = await startServer(settings)
  expect(await readiness(serverWithoutBackups)).toMatchObject({
    newestBackupSeconds: null,
    backupsFailingSince: null,
  })
  for (let count = 0; count < 3; count += 1) await send(serverWithoutBackups.origin, anApplication())
  await serverWithoutBackups.stop()

  const server = await startServer({ ...settings, BACKUP_DIR: dir })
  await server.waitForOutput('"msg":"backup made"')
  const [name = ''] = await backupsIn(dir)
  expect(name).toMatch(/^unplugged-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/)
  await expect
    .poll(() => readiness(server))
    .toMatchObject({ status: 200, newestBackupSeconds: expect.any(Number), backupsFailingSince: null })
  const [notErased, byDesk, byCommand] = idsOf(
    (await runCommand(['applications', '--json'], settings)).stdout,
  )
  const link = await runCommand(['organisers', '--add', 'ada@example.org'], settings)
  const { client } = await signInByLink(server.origin, link.stdout)
  const erased = await client.rpc('desk_erase', { applications: [byDesk?.id], email: byDesk?.email })
  expect(erased.data).toEqual({ erased: 1 })
  const list = () => readFile(join(dir, 'erasures'), 'utf8')
  await expect.poll(list).toBe(`${digestOf(byDesk?.id ?? '')}\n`)
  await runCommand(['applications', '--delete', byCommand?.id ?? '', '--yes'], settings)
  await expect.poll(list).toBe([byDesk, byCommand].map((one) => `${digestOf(one?.id ?? '')}\n`).join(''))
  await server.stop()
  // A list with an incomplete last line or with other lines is still used.
  await writeFile(
    join(dir, 'erasures'),
    `${(await list()).replace('\n', '\nof the retreat\n')}${'a'.repeat(9)}`,
  )

  // Without a folder, a backup is made in BACKUP_DIR.
  const withFolder = { ...settings, BACKUP_DIR: dir }
  const more = await runCommand(['backup'], withFolder)
  expect(more.stdout).toMatch(/^Wrote 1 application into .*\/unplugged-[\dTZ-]+\.\n$/)
  const lines = (await runCommand(['backup', '--list'], withFolder)).stdout.split('\n')
  expect(lines).toEqual([
    expect.stringMatching(/^\/.*\/unplugged-\S+ {2}.* {2}1 application$/),
    expect.stringMatching(new RegExp(`^\\/.*/${name} {2}.* {2}3 applications$`)),
    '',
  ])
  expect(await runCommand(['backup'], settings)).toMatchObject({
    code: 1,
    stderr: 'BACKUP_DIR is not set: set it, or name a new folder with --to.\n',
  })

  const restoreBackup = ['restore', '--from', join(dir, name)]
  const copy = await prepareDatabase(join(directory.path, 'copy'))
  const restored = await runCommand(restoreBackup, copy)
  expect(restored).toMatchObject({ code: 0 })
  expect(restored.stdout).toMatch(/^Restored 1 application .*\nErased 2 applications again, .*\.\n$/)
  expect(idsOf((await runCommand(['applications', '--json'], copy)).stdout)).toEqual([notErased])
  const restoredServer = await startServer({ ...copy, BACKUP_DIR: dir })
  expect((await deskOf(copy.DATA_DIR)).history).toMatchObject([
    { application_id: null, author: 'operator', kind: 'erased', detail: { applications: 2 } },
  ])
  await restoredServer.stop()
  expect(await list()).toMatch(/aaa$/)

  const whole = await prepareDatabase(join(directory.path, 'whole'))
  const withErased = await runCommand([...restoreBackup, '--keep-erased'], whole)
  expect(withErased.stdout).toMatch(
    /^Restored 3 applications to .*\n.* A later restore erases them again, unless it has --keep-erased\.\n$/,
  )
  // If the backup is in another folder, the list in BACKUP_DIR is used too.
  await cp(join(dir, name), join(directory.path, 'elsewhere'), { recursive: true })
  await rm(whole.DATA_DIR, { recursive: true })
  const restoreElsewhere = ['restore', '--from', join(directory.path, 'elsewhere')]
  expect((await runCommand(restoreElsewhere, { ...whole, BACKUP_DIR: dir })).stdout).toMatch(
    /Erased 2 applications again/,
  )
})

test('a check restores a backup into a temporary database, compares it row by row, and leaves no files', async () => {
  const directory = await temporaryDirectory()
  const settings = await prepareDatabase(join(directory.path, 'data'))
  const folder = join(directory.path, 'backup')
  const temporary = join(directory.path, 'temp')
  await mkdir(temporary)
  const server = await startServer(settings)
  await send(server.origin, anApplication({ reason: 'a\n"b",c\\.\r\n\u2028\u0085é' }))
  await send(server.origin, anApplication())
  await runCommand(['organisers', '--add', 'ada@example.org'], settings)
  await server.stop()
  await runCommand(['backup', '--to', folder], settings)
  const check = async () => {
    const checked = await runCommand(['backup', '--check', '--from', folder], { TMPDIR: temporary })
    expect(await readdir(temporary)).toEqual([])
    return checked
  }
  expect(await check()).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /^The backup of .* can be restored: 2 applications and the account of 1 organiser, .* compared row by row/,
    ) as string,
  })

  // Digests do not reveal these errors: a manifest with other counts, and a row whose text changes when it is restored.
  const path = (name: string) => join(folder, name)
  const [manifest, rows] = await Promise.all(
    ['manifest.json', 'public.retreat_applications.jsonl'].map((name) => readFile(path(name), 'utf8')),
  )
  const hashOf = (text = '') => createHash('sha256').update(text).digest('hex')
  const rewrite = async (changed: string, rowCount = 2) => {
    const changedManifest = JSON.parse(manifest ?? '') as { files: Record<string, object> }
    changedManifest.files['public.retreat_applications.jsonl'] = { rows: rowCount, sha256: hashOf(changed) }
    await writeFile(path('public.retreat_applications.jsonl'), changed)
    await writeFile(path('manifest.json'), JSON.stringify(changedManifest))
  }
  await rewrite(rows ?? '', 3)
  expect(await check()).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /retreat_applications has 2 rows then, and the manifest says 3\.\n$/,
    ) as string,
  })
  await rewrite((rows ?? '').replace('"created_at":"20', '"created_at":"19'))
  expect((await check()).code).toBe(0)
  await rewrite((rows ?? '').replace('+00:00"', '0000001+00:00"'))
  expect(await check()).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/rows of public\.retreat_applications differ\.\n$/) as string,
  })
})

test('a full or read-only disk for backups is reported, applications are still stored, and no erasure is lost', async ({
  skip,
}) => {
  const directory = await temporaryDirectory()
  const dir = join(directory.path, 'backups')
  await mountSmallDisk(dir, '64k', skip)
  const run = promisify(execFile)
  const filler = join(dir, 'filler')
  await writeFile(filler, Buffer.alloc(64 * 1024)).catch(() => {})
  const settings = { ...(await prepareDatabase(join(directory.path, 'data'))), BACKUP_DIR: dir }
  const server = await startServer(settings)
  await server.waitForOutput(/ENOSPC.*"msg":"the backup failed"/)
  expect(await readiness(server)).toMatchObject({
    status: 200,
    newestBackupSeconds: null,
    backupsFailingSince: expect.any(String),
  })
  const store = async () => {
    expect(await send(server.origin, anApplication())).toBe(201)
    const [stored] = idsOf((await runCommand(['applications', '--json'], settings)).stdout)
    return stored?.id ?? ''
  }
  const erase = (id: string) => runCommand(['applications', '--delete', id, '--yes'], settings)
  const list = () => readFile(join(dir, 'erasures'), 'utf8').catch(() => '')
  const first = await store()
  expect(await erase(first)).toMatchObject({
    code: 0,
    stdout: 'Erased 1 application.\n',
    stderr: expect.stringMatching(
      /cannot be written \(ENOSPC.* The next server that can write there/,
    ) as string,
  })
  await rm(filler)
  await expect.poll(list).toContain(digestOf(first))

  await run('mount', ['-o', 'remount,ro', dir])
  const second = await store()
  expect((await erase(second)).stderr).toMatch(/cannot be written \(EROFS/)
  expect(await list()).not.toContain(digestOf(second))
  expect(await readiness(server)).toMatchObject({ status: 200, backupsFailingSince: expect.any(String) })
  await server.stop()
  await run('mount', ['-o', 'remount,rw', dir])
  const restarted = await startServer(settings)
  await restarted.waitForOutput('"msg":"backup made"')
  await expect.poll(list).toBe(`${digestOf(first)}\n${digestOf(second)}\n`)
  await expect.poll(() => readiness(restarted)).toMatchObject({ backupsFailingSince: null })
  await restarted.stop()
})

test('a server that is stopped or killed during a backup leaves no partial backup with the name of a finished one', async () => {
  const directory = await temporaryDirectory()
  const dir = join(directory.path, 'backups')
  await mkdir(dir)
  const settings = { ...(await copyLargeDatabase(join(directory.path, 'data'))), BACKUP_DIR: dir }
  const startUntilBackupBegins = async () => {
    const server = await startServer(settings)
    // With a table. An empty folder may be another server's, so it stays for an hour.
    const filesOfBackup = async () => {
      const [name] = await backupsIn(dir)
      return name === undefined ? [] : readdir(join(dir, name))
    }
    await expect.poll(async () => (await filesOfBackup()).length, { interval: 10 }).toBeGreaterThan(1)
    return server
  }
  const stopped = await startUntilBackupBegins()
  expect(await stopped.stop()).toBe(0)
  expect(await backupsIn(dir)).toEqual([])

  const killed = await startUntilBackupBegins()
  await killed.stop('SIGKILL')
  const [partial = ''] = await backupsIn(dir)
  expect(partial).toMatch(/^\.unplugged-/)

  const restarted = await startServer(settings)
  await restarted.waitForOutput('"msg":"backup made"')
  const [made = '', ...others] = await backupsIn(dir)
  expect({ made, others }).toEqual({ made: expect.stringMatching(/^unplugged-/) as string, others: [] })
  await restarted.stop()
  const manifest = await readFile(join(dir, made, 'manifest.json'), 'utf8')
  expect(JSON.parse(manifest)).toMatchObject({
    files: { 'public.retreat_applications.jsonl': { rows: 3000 } },
  })
})

test('a server makes a backup before it changes the schema, and if that fails, it starts anyway and says so', async () => {
  const directory = await temporaryDirectory()
  const dir = join(directory.path, 'backups')
  await mkdir(dir)
  const settings = await prepareDatabase(join(directory.path, 'data'))
  /** Makes the database like one of 1.0.1 with an application. */
  const goBack = async () => {
    const database = await openDatabase(
      { dataDir: settings.DATA_DIR, databaseUrl: undefined },
      { schema: 'check' },
    )
    const sql = connectToEmbedded(settings.DATA_DIR, 2)
    await sql.unsafe(`
      drop schema public, private, auth, supabase_migrations cascade;
      create schema public;
      grant usage on schema public to public`)
    await migrate(sql, { files: migrationsOf('1.0.1') })
    await sql`insert into public.retreat_applications ${valuesOf(anApplication())}`
    await sql.end()
    await database.close()
  }
  await goBack()
  const updated = await startServer({ ...settings, BACKUP_DIR: dir })
  expect(updated.output()).toContain('"msg":"backup made"')
  expect(updated.output()).toMatch(/^The schema was updated by \d+ migrations\. docs\/operate\.md#go-back/m)
  await expect.poll(() => readiness(updated)).toMatchObject({ newestBackupSeconds: expect.any(Number) })
  await updated.stop()
  await goBack()
  const [made = '', ...others] = await backupsIn(dir)
  expect(others).toEqual([])
  // The backup is that of the former schema.
  expect((await readdir(join(dir, made))).filter((name) => /outbox|deliveries/.test(name))).toEqual([
    'private.answer_outbox.jsonl',
    'private.webhook_outbox.jsonl',
  ])
  const restored = await runCommand(['restore', '--from', join(dir, made)], {
    ...(await prepareDatabase(join(directory.path, 'copy'))),
  })
  expect(restored.stdout).toMatch(/^Restored 1 application to /)

  const withoutBackup = await startServer({ ...settings, BACKUP_DIR: join(directory.path, 'nowhere') })
  expect(withoutBackup.output()).toContain('"msg":"the backup that precedes an update failed"')
  expect(withoutBackup.output()).toMatch(
    /by \d+ migrations\. The backup that precedes an update failed, and the log says why: /,
  )
  expect(withoutBackup.output()).toMatch(/BACKUP_DIR is .*nowhere.*, which is not there/)
  expect(await send(withoutBackup.origin, anApplication())).toBe(201)
})
