import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test, vi } from 'vitest'

import { defaultLook } from '../../design/look.ts'
import { anApplication } from '../../../test/support/form.ts'
import { newProject } from '../../../test/support/hosted-project.ts'
import { storeDueLetters } from '../../../test/support/letters.ts'
import { freePort } from '../../../test/support/ports.ts'
import { startPostgres, type TestPostgres } from '../../../test/support/postgres.ts'
import { startReceiver } from '../../../test/support/receiver.ts'
import { temporaryDirectory } from '../../../test/support/server.ts'
import { readSettings } from '../../settings/server-settings.ts'
import { version } from '../../settings/version.ts'
import { createApp } from '../app.ts'
import { visitor } from '../database/connection/pools.ts'
import { openForReading, openDatabase, type ReadOnlyDatabase } from '../database/database.ts'
import { insertApplications, sentRowsOf } from '../applications/insert-rows.ts'
import { backOffAll } from '../letters/pause-emails.ts'
import { createScheduledBackups } from '../backups/scheduled.ts'
import { checkBackups } from './backups.ts'
import { checkClock } from './database.ts'
import { checkDisk } from './disk.ts'
import { examine } from './doctor.ts'
import { checkSettings } from './settings.ts'
import type { Sql } from '../database/connection/sql.ts'

let server: TestPostgres

beforeAll(async () => {
  server = await startPostgres()
})

/** Creates a database with the schema by copying a template, which is faster than creating the schema each time. */
async function newDatabase(name: string) {
  const [template] = await server.admin`select from pg_database where datname = 'template_of_tests'`
  if (template === undefined) {
    await server.admin.unsafe('create database template_of_tests')
    const database = await openDatabase(
      { dataDir: '/nowhere', databaseUrl: server.url('template_of_tests') },
      { schema: 'migrate' },
    )
    await database.close()
  }
  await server.admin.unsafe(`create database ${name} template template_of_tests`)
  return server.url(name)
}

/** Runs the doctor. Returns the verdict and the sentence of each finding, by the finding's subject. */
async function findingsOf(environment: Record<string, string>) {
  const settings = readSettings({ PORT: '0', ...environment })
  const database = openForReading(settings, 1_000)
  const findings = await Promise.all(examine({ settings, environment, database }))
  await database.then(
    ({ close }: ReadOnlyDatabase) => close(),
    () => {},
  )
  return Object.fromEntries(
    findings.map((finding) => [finding.about, `${finding.verdict}: ${finding.sentence}`]),
  )
}

/** Changes a database while no server runs. */
async function change(url: string, work: (sql: Sql) => Promise<unknown>) {
  const database = await openDatabase({ dataDir: '/nowhere', databaseUrl: url }, { schema: 'check' })
  await work(database.owner)
  await database.close()
}

test('the doctor changes nothing: none of its transactions writes', async () => {
  const DATABASE_URL = await newDatabase('untouched')
  const readNextTransaction = async () =>
    (await server.admin`select txid_snapshot_xmax(txid_current_snapshot())::text as next`)[0]?.['next']
  const before = await readNextTransaction()
  expect(await findingsOf({ DATABASE_URL })).toMatchObject({
    rights: 'ok: Database user postgres has the rights that the server needs, and visitors may only apply.',
    organisers: expect.stringMatching(/^not set: There are none yet/) as string,
  })
  expect(await readNextTransaction()).toBe(before)
  const open = await openForReading({ dataDir: '/nowhere', databaseUrl: DATABASE_URL }, 1_000)
  const attempt = open.read((sql) => sql`delete from public.retreat_applications`)
  await expect(attempt).rejects.toThrow('read-only transaction')
})

test('a schema that is older, newer or edited is reported with its newest migration, and a missing schema is reported', async () => {
  const DATABASE_URL = await newDatabase('moved')
  const newest = /^ok: (\d+)_\w+ is the newest migration\.$/
  const [, last = ''] = newest.exec((await findingsOf({ DATABASE_URL }))['schema'] ?? '') ?? []
  await change(DATABASE_URL, async (sql) => {
    await sql`delete from supabase_migrations.schema_migrations where version = ${last}`
    await sql`delete from private.server_migrations where version = ${last}`
    await sql`
      update supabase_migrations.schema_migrations set statements = array['select 1']
      where version = '20261122120000'`
  })
  expect((await findingsOf({ DATABASE_URL }))['schema']).toMatch(
    /^wrong: The database applied another text of 20261122120000_letters than .* The newest migration is \d+_\w+, and 1 of this version is missing: start the server once more/,
  )
  await change(
    DATABASE_URL,
    (sql) => sql`insert into private.server_migrations (version) values ('29990101000000')`,
  )
  expect((await findingsOf({ DATABASE_URL }))['schema']).toMatch(
    /^wrong: The newest migration is 29990101000000, which a newer version/,
  )
  await server.admin.unsafe('create database bare')
  expect(await findingsOf({ DATABASE_URL: server.url('bare') })).toMatchObject({
    database: expect.stringMatching(/^ok: PostgreSQL at .*\/bare, version/) as string,
    schema: expect.stringMatching(/^wrong: The database holds no applications yet/) as string,
    rights: 'not known: There is no schema yet, so there are no rights to check.',
    letters: 'not known: The schema is older than this program: see the line about the schema.',
  })
})

test('a user with too few rights, or visitors with too many, are reported with commands for an administrator', async () => {
  await newDatabase('limited')
  await server.admin.unsafe('create role limited login')
  expect((await findingsOf({ DATABASE_URL: server.url('limited', 'limited') }))['rights']).toMatch(
    /^wrong: limited may not act as anon and authenticated: .* grant anon, authenticated to limited; limited may not change the schema, .* grant create on database limited to limited; .* limited may not read and write .*retreat_applications.*belong to another user/,
  )
  await change(server.url('limited'), (sql) => sql`grant select on public.retreat_applications to anon`)
  expect((await findingsOf({ DATABASE_URL: server.url('limited') }))['rights']).toMatch(
    /^wrong: Everybody with the public key may read or change retreat_applications: revoke all/,
  )
})

test('letters and deliveries that failed, or wait, are reported with a command that says why', async () => {
  const DATABASE_URL = await newDatabase('stuck')
  const database = await openDatabase({ dataDir: '/nowhere', databaseUrl: DATABASE_URL }, { schema: 'check' })
  for (let index = 0; index < 3; index += 1) {
    await insertApplications(database.as(visitor), sentRowsOf(anApplication()))
  }
  const { owner } = database
  await owner`
    update private.deliveries set state = 'failed', due_at = null, attempts = 10, reply_status = 410, reply = 'gone'
    where id = (select min(id::text)::uuid from public.retreat_applications)`
  await owner`update private.deliveries set queued_at = now() - interval '1 hour'`
  await storeDueLetters(owner, 3)
  await owner`
    update private.deliveries set state = 'failed', is_refused = true, due_at = null, reply = '550 Unknown user'
    where id = (select min(id::text)::uuid from private.deliveries where kind = 'letter')`
  await backOffAll(owner, 'The mail server is closing (421).')
  await database.close()

  expect(await findingsOf({ DATABASE_URL, WEBHOOK_URL: 'http://127.0.0.1:4999/' })).toMatchObject({
    webhook:
      'wrong: 1 delivery was given up: npm run webhooks -- --list says why, --retry tries again. The last response: 410: gone. 5 deliveries wait, the oldest for 60 minutes: npm run webhooks -- --list says why.',
    letters:
      'wrong: 1 refused and 0 given up: npm run letters -- --list says why, --retry tries again. The last response: 550 Unknown user. 2 wait, and no server hands letters over: set SMTP_URL and MAIL_FROM. Sending is paused: The mail server is closing (421).',
  })
  expect((await findingsOf({ DATABASE_URL }))['webhook']).toBe(
    'not set: WEBHOOK_URL is not set; 5 wait for one.',
  )
})

test('a delivery and a letter that failed once are reported, with the last response but no address', async () => {
  const DATABASE_URL = await newDatabase('failing')
  await change(DATABASE_URL, async (sql) => {
    for (let count = 0; count < 2; count += 1) await insertApplications(sql, sentRowsOf(anApplication()))
    await storeDueLetters(sql, 1)
    // A first try that is pending has not failed.
    await sql`
      update private.deliveries set state = 'sending', attempts = 1, due_at = now() + interval '30 seconds'
      where kind = 'application'`
  })
  const webhook = async () =>
    (await findingsOf({ DATABASE_URL, WEBHOOK_URL: 'http://127.0.0.1:4999/' }))['webhook']
  expect(await webhook()).toBe('ok: 0 delivered, 3 waiting, none given up.')
  await change(DATABASE_URL, async (sql) => {
    await sql`
      update private.deliveries
      set state = 'waiting', reply_status = 500, reply = 'no "ada@example.org"', due_at = now() + interval '5 minutes'
      where id = (select min(id::text)::uuid from private.deliveries where kind = 'application')`
    await sql`
      update private.deliveries set attempts = 1, reply = '450 <ada@example.org> comes too often'
      where kind = 'letter'`
  })
  expect(await webhook()).toBe(
    'wrong: 1 delivery failed and will be tried again: npm run webhooks -- --list says why, --retry --all tries at once. The last response: 500: no (address).',
  )
  expect((await findingsOf({ DATABASE_URL }))['letters']).toMatch(
    /^wrong: 1 failed and will be tried again: npm run letters -- --list says why\. The last response: 450 \(address\) comes too often\./,
  )
})

test('the newest backup is reported, and an old or missing backup counts as a problem, like an unsafe or missing folder', async () => {
  const url = await newDatabase('kept')
  const open = await openForReading({ dataDir: '/nowhere', databaseUrl: url }, 1_000)
  const directory = await temporaryDirectory()
  const settings = { backupDir: directory.path, backupAt: '03:00', backupKeep: 14 }
  const check = async (now?: Date) => Object.values(await checkBackups(settings, open, now)).join(': ')
  expect(await check()).toMatch(/^wrong: There is no whole backup in/)
  const log = { info() {}, error() {} }
  const backups = createScheduledBackups({ dir: directory.path, at: '03:00', keep: 14, log })
  await change(url, (sql) => backups.beforeMigration(sql))
  expect(await check()).toMatch(/^ok: .*unplugged-.* has 0 applications, and the newest 14 are kept\.$/)
  expect(await check(new Date(Date.now() + 30 * 3_600_000))).toMatch(
    /^wrong: The newest backup is 30 hours old, though one is due each day at 03:00/,
  )
  await chmod(directory.path, 0o755)
  expect(await check()).toMatch(/^wrong: Every user of this machine can read .*: chmod o= /)
  const otherUser = vi.spyOn(process, 'getuid').mockReturnValue(4_711)
  expect(await check()).toMatch(/^wrong: Every user .*: name a folder of this user's own\.$/)
  otherUser.mockRestore()
  await expect(checkBackups({ ...settings, backupDir: '/dev/null' }, open)).rejects.toThrow(
    /cannot be read \(ENOTDIR.*\): name a folder that this user may read and write\.$/,
  )
  await directory.remove()
  expect((await findingsOf({ DATABASE_URL: url, BACKUP_DIR: directory.path }))['backups']).toMatch(
    /^wrong: BACKUP_DIR is .*, which is not there: make that folder/,
  )
})

test("a hosted project's database is recognised before a server has run on it", async () => {
  const { url, owner, asSupabase, end } = await newProject(server, 'hosted')
  const page = await startReceiver()
  const environment = { DATABASE_URL: url, SITE_URL: page.origin }
  const database = await openDatabase({ dataDir: '/nowhere', databaseUrl: url }, { schema: 'migrate' })
  await database.close()
  // Restores the state that `supabase db push` leaves.
  await owner`delete from private.server_migrations`
  const [account] = await asSupabase<{ id: string }[]>`
    insert into auth.users (email, email_confirmed_at) values ('ada@example.org', now()) returning id`
  await asSupabase`insert into private.organisers (account_id) values (${account?.id ?? ''})`
  await asSupabase`
    insert into auth.mfa_factors (id, user_id, status) values (gen_random_uuid(), ${account?.id ?? ''}, 'verified')`
  const findings = await findingsOf(environment)
  expect(findings).toMatchObject({
    rights:
      'ok: Database user hosted_owner has the rights that the server needs, and visitors may only apply.',
    schema: expect.stringMatching(/^ok: /) as string,
    disk: expect.stringMatching(/^ok: The database is not in DATA_DIR/) as string,
    site: `ok: SITE_URL is ${page.origin}, which answers. A static host serves the page.`,
    organisers: 'ok: 1, of whom 1 has a second factor.',
  })
  await Promise.all([end(), page.close()])
})

test('a database that is frozen, or refuses connections, is reported, and everything else is still checked', async () => {
  const frozenServer = await startPostgres()
  frozenServer.freeze()
  const [frozen, refused] = await Promise.all([
    findingsOf({ DATABASE_URL: frozenServer.url() }),
    findingsOf({ DATABASE_URL: 'postgres://ada:hunter2@127.0.0.1:1/none' }),
  ])
  for (const findings of [frozen, refused]) {
    expect(findings['database']).toMatch(
      /^wrong: The PostgreSQL at .* cannot be used \(.*\): check its address/,
    )
    expect(findings).toMatchObject({
      settings: expect.stringMatching(/^ok: /) as string,
      schema: 'not known: The database could not be read.',
    })
  }
  expect(JSON.stringify(refused)).not.toContain('hunter2')
})

test('the doctor reports what SITE_URL leads to (this server, another, a redirect or nothing), and what listens at PORT', async () => {
  const [DATABASE_URL, otherUrl] = [await newDatabase('mine'), await newDatabase('theirs')]
  const serve = async (databaseUrl: string) => {
    const database = await openDatabase({ dataDir: '/nowhere', databaseUrl }, { schema: 'check' })
    const settings = {
      anonKey: 'k',
      siteUrl: undefined,
      look: defaultLook,
      mailServer: undefined,
      rateLimitPerMinute: 0,
    }
    const app = await createApp({ settings: { ...settings, trustProxy: false }, database })
    const origin = await app.listen({ host: '127.0.0.1', port: 0 })
    return { origin, close: () => Promise.all([app.close(), database.close()]) }
  }
  const [thisServer, otherServer] = [await serve(DATABASE_URL), await serve(otherUrl)]
  const { port } = new URL(thisServer.origin)
  const elsewhere = await startReceiver(({ url }, response) => {
    const status = Number(/\/(\d+)/.exec(url)?.[1] ?? 404)
    const isMarked = url.startsWith('/marked')
    if (isMarked) response.setHeader('content-type', 'application/json')
    response.writeHead(status, status === 301 ? { location: 'https://other.example/' } : {})
    response.end(isMarked ? '{"mark":"0123456789abcdef"}' : '')
  })
  const site = async (SITE_URL: string, PORT = '0') =>
    (await findingsOf({ DATABASE_URL, SITE_URL, PORT }))['site']
  expect(await site(`${thisServer.origin}/`, port)).toBe(
    `ok: SITE_URL is ${thisServer.origin}, which answers and is a server on this database. The server at ${thisServer.origin} is version ${version}.`,
  )
  expect(await site(otherServer.origin, port)).toBe(
    `wrong: SITE_URL is ${otherServer.origin}, where a server on another database answers: set it to the address of this server.`,
  )
  const foreignPort = new URL(elsewhere.origin).port
  expect(await site(thisServer.origin, foreignPort)).toBe(
    `wrong: Another program listens at http://127.0.0.1:${foreignPort} (HTTP 404): stop it, or set PORT to another.`,
  )
  expect((await findingsOf({ DATABASE_URL, PORT: port }))['site']).toBe(
    `not set: SITE_URL is not set. The server at ${thisServer.origin} is version ${version}.`,
  )
  expect(await site(thisServer.origin.replace('http', 'https'))).toMatch(
    /which does not answer \(TLS: [a-z ]+\): check that/,
  )
  expect(await site(thisServer.origin, new URL(otherServer.origin).port)).toMatch(
    /^wrong: The server at .* uses another database than this one/,
  )
  expect(await site(`${elsewhere.origin}/301`)).toMatch(
    /which redirects to https:\/\/other\.example\/: set SITE_URL/,
  )
  expect(await site(`${elsewhere.origin}/502`)).toMatch(
    /where a proxy answers 502: it does not reach the server\.$/,
  )
  expect(await site(`${elsewhere.origin}/200`)).toMatch(
    /which does not lead to a server of this version \(200\)/,
  )
  const proxyOf = async (SITE_URL: string) =>
    (await findingsOf({ DATABASE_URL, SITE_URL, PORT: '0' }))['proxy']
  expect(await proxyOf(elsewhere.origin)).toBe('not known: SITE_URL does not lead to this server.')
  expect(await proxyOf(`${elsewhere.origin}/marked/200`)).toMatch(
    /^not known: The server at SITE_URL does not say whom/,
  )
  const unusedPort = await freePort()
  expect(await site(`http://127.0.0.1:${unusedPort}`, String(unusedPort))).toMatch(
    /^wrong: No server answers at .*: start it\. SITE_URL is .*, which does not answer \(connect ECONNREFUSED .*\)/,
  )
})

test('a wrong clock, a full disk, invalid names of settings and secrets that everybody may read are reported', async () => {
  const open = await openForReading({ dataDir: '/nowhere', databaseUrl: await newDatabase('clock') }, 1_000)
  expect(await checkClock(open, () => Date.now() + 60_000)).toMatchObject({
    verdict: 'wrong',
    sentence: expect.stringMatching(
      /^This machine's clock is (59|60)(\.\d)? s ahead of the database's/,
    ) as string,
  })
  await open.close()

  const fullDisk = { bavail: 2 ** 10, bsize: 2 ** 10, blocks: 2 ** 24, files: 2 ** 20, ffree: 7 }
  expect(await checkDisk('/data', () => Promise.resolve(fullDisk))).toEqual({
    verdict: 'wrong',
    sentence:
      '0.0 GB of 16.0 GB are free in /data: make room, or no application can be stored one day. Only 7 more files can be created in /data: remove some.',
  })

  const directory = await temporaryDirectory()
  const file = join(directory.path, '.env')
  await writeFile(file, '\uFEFFSMTP_URL=smtp://ada:hunter2@mail.example\nSMTP_FORM=hello@example.org\n')
  await chmod(file, 0o644)
  const inFile = { SMTP_URL: 'smtp://ada:hunter2@mail.example', SMTP_FORM: 'hello@example.org' }
  expect(await checkSettings(inFile, file)).toEqual({
    verdict: 'wrong',
    sentence: `SMTP_FORM is no setting. Every user of this machine can read ${file}, which holds secrets: chmod o= ${file}.`,
  })
  await chmod(file, 0o640)
  const secret = join((await temporaryDirectory()).path, 'secret')
  await writeFile(secret, 'whsec_AAAA', { mode: 0o644 })
  expect(await checkSettings({ WEBHOOK_SECRET_FILE: secret }, file)).toEqual({
    verdict: 'wrong',
    sentence: `Every user of this machine can read ${secret}, which holds secrets: chmod o= ${secret}.`,
  })
  expect(await checkSettings({ 'PORT 3000\nSMTP': 'x' }, file)).toMatchObject({
    sentence: '"PORT 3000 SMTP" is not a valid name: a line of .env is NAME=value.',
  })
  expect(await checkSettings({ TZ: 'Mars/Phobos' }, file)).toMatchObject({
    verdict: 'wrong',
    sentence: expect.stringMatching(/^TZ is "Mars\/Phobos", which is no time zone/) as string,
  })
  expect((await checkSettings({ SMTP_URL: inFile.SMTP_URL, TZ: ':/etc/localtime' }, file)).verdict).toBe('ok')
})

test('the doctor names settings whose words or colour .env cuts at a #, which begins a comment', async () => {
  const file = join((await temporaryDirectory()).path, '.env')
  await writeFile(file, 'SITE_ACCENT=#7a0019\n export SITE_TITLE = Club #1\nVITE_SITE_BADGE=a#b\n')
  const cut = (name: string) =>
    `${name} in .env ends before its sign #, which begins a comment: put the value in quotes.`
  expect(await checkSettings({}, file)).toEqual({
    verdict: 'wrong',
    sentence: ['SITE_ACCENT', 'SITE_TITLE', 'VITE_SITE_BADGE'].map(cut).join(' '),
  })
  await writeFile(file, `#SITE_ACCENT=#7a0019\nSITE_ACCENT="#7a0019"\nSITE_TITLE='Club #1'\nPORT=1 # one\n`)
  expect((await checkSettings({}, file)).verdict).toBe('ok')
})
