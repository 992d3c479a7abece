import type { SupabaseClient } from '@supabase/supabase-js'
import { readdir, readFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import { Secret, TOTP } from 'otpauth'
import { expect } from 'vitest'

import type { ListedApplication, ListPage, ApplicationDetails } from '../../src/client/desk/applications.ts'
import type { Letter } from '../../src/client/desk/letters.ts'
import type { Sql } from '../../src/server/database/connection/sql.ts'
import { send } from './send-application.ts'
import { readCsv } from './csv.ts'
import { anApplication } from './form.ts'
import { startMailServer } from './mail-server.ts'
import { clientOf, signInByLink } from './sign-in-by-link.ts'
import { freePort } from './ports.ts'
import type { TestPostgres } from './postgres.ts'
import { startReceiver } from './receiver.ts'
import { runCommand, startServer } from './server.ts'

/** The folder of a database and a backup that 1.0.0 wrote. Its README.md says how. */
const folder = 'test/fixtures/1.0.0'

/** Fills an empty database with the dump, as if its last server had ended two minutes ago. */
export async function loadDump(sql: Sql) {
  const roles = ['anon', 'authenticated', 'service_role'].map(
    (role) => `create role ${role} nologin noinherit;`,
  )
  const dump = gunzipSync(await readFile(`${folder}/dump.sql.gz`)).toString()
  // A single call, so that the dump's settings are reset on the connection that loaded it.
  await sql.unsafe(`${roles.join('')} ${dump} reset all`)
  await moveTimes(sql)
}

/**
 * Adds the same interval to all times, so that the last event was two minutes ago. Otherwise the age of the fixtures would decide
 * which deliveries are due. After two minutes all leases have ended, and retries that wait half an hour are not due yet.
 */
async function moveTimes(sql: Sql) {
  await sql.unsafe(`
    do $$
    declare
      last timestamptz;
      passed interval;
      days integer;
      moved record;
    begin
      execute format('select max(queued_at) from %s',
        coalesce(to_regclass('private.webhook_outbox'), to_regclass('private.deliveries'))) into last;
      passed := now() - interval '2 minutes' - last;
      days := (now() at time zone 'UTC')::date - (last at time zone 'UTC')::date;
      -- Disables triggers.
      perform set_config('session_replication_role', 'replica', true);
      for moved in
        select attrelid::regclass as name, string_agg(format(
          case atttypid when 'date'::regtype then '%1$I = %1$I + $2' else '%1$I = %1$I + $1' end, attname), ', ') as changes
        from pg_attribute join pg_class on pg_class.oid = attrelid
        where relkind = 'r' and relnamespace::regnamespace::text in ('public', 'private', 'auth')
          and atttypid in ('date'::regtype, 'timestamptz'::regtype) and attnum > 0
        group by attrelid
      loop
        execute format('update %s set %s', moved.name, moved.changes) using passed, days;
      end loop;
    end
    $$`)
}

/** The desk's view of each application: its status and RSVP, its delivery to the webhook, its letters, and its history. */
async function deskViewOf(client: SupabaseClient): Promise<string[]> {
  const call = async <Result>(name: string, parameters: object) =>
    (await client.rpc(name, parameters).throwOnError()).data as Result
  const listed: ListedApplication[] = []
  let after: ListPage['next'] = null
  do {
    const page: ListPage = await call('desk_list', { filter: { order: 'oldest' }, after })
    listed.push(...page.applications)
    after = page.next
  } while (after !== null)
  const letters = await call<Letter[]>('desk_letters_of', { applications: listed.map(({ id }) => id) })
  return Promise.all(
    listed.map(async (application) => {
      const { delivery, history } = await call<ApplicationDetails>('desk_application', {
        application: application.id,
      })
      const itsLetters = letters.filter((letter) => letter.application === application.id)
      return [
        application.email?.split('@')[0],
        [application.status, application.answer_state].filter((state) => state !== null).join(', '),
        delivery === null ? 'nothing to deliver' : describeDelivery(delivery),
        ...itsLetters.map(describeLetter),
        ...history.filter(({ kind }) => kind !== 'status').map(({ kind }) => `(${kind})`),
      ].join(' | ')
    }),
  )
}

function describeDelivery({
  delivered_at,
  next_attempt_at,
  attempts,
  last_status,
}: NonNullable<ApplicationDetails['delivery']>) {
  const state = delivered_at !== null ? 'delivered' : next_attempt_at === null ? 'given up' : 'to deliver'
  return `${state}: ${attempts}x ${last_status ?? 'unanswered'}`
}

function describeLetter(letter: Letter) {
  const { occasion, edition, way, state, attempts, uncertain, otherwise, withdrawn_by, withdrawn_at } = letter
  return [
    occasion === '' ? 'personal' : occasion,
    ...(edition > 1 && occasion !== '' ? [`no. ${edition}`] : []),
    ...(way === 'automation' ? ['to the automation'] : []),
    state,
    ...(otherwise === null ? [] : [otherwise]),
    ...(letter.is_edited ? ['edited'] : []),
    ...(withdrawn_at === null ? [] : [withdrawn_by === null ? 'overtaken' : 'stopped']),
    ...(attempts > 0 ? [`${attempts}x`] : []),
    ...(uncertain > 0 ? [`uncertain ${uncertain}x`] : []),
  ].join(' ')
}

/**
 * Reads all rows, by table, without the record of applied migrations. In the current schema, the tables that 1.0.0 had are made
 * from the current ones (`formerTables`). Times are in UTC, as in a backup.
 */
export const rowsOf = (sql: Sql) =>
  sql.begin(async (transaction) => {
    await transaction`set local time zone 'UTC'`
    const tables = await transaction<{ name: string }[]>`
      select nspname || '.' || relname as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
      where relkind = 'r' and nspname in ('public', 'private', 'auth') and relname <> 'server_migrations'`
    const rows: Record<string, object[]> = {}
    for (const { name } of tables) {
      const query = `select to_jsonb(each_one) as row from ${name} as each_one`
      rows[name] = (await transaction.unsafe<{ row: object }[]>(query)).map(({ row }) => row)
    }
    const isCurrentSchema = 'private.deliveries' in rows
    for (const [name, query] of Object.entries(formerTables)) {
      if (!isCurrentSchema) continue
      rows[name] = (
        await transaction.unsafe<{ row: object }[]>(
          `select to_jsonb(each_one) as row from (${query}) as each_one`,
        )
      ).map(({ row }) => row)
    }
    return rows
  })

/** Columns that a migration drops, with their values. */
const droppedColumns: Record<string, string[]> = {
  'private.postman': ['turns'],
  'private.notices': ['waits_since'],
  'private.letters': ['edition', 'created_at', 'status_version', 'version', 'from_template', 'waits_since'],
}

/** Queries that give the rows of former tables from the current tables. */
const formerTables = {
  'private.notices': `
    select delivery.id, organiser_id, case when kind = 'notice' and event_id is null then application_id end as application_id,
      since, until, case when kind = 'test' then coalesce(subject, '') end as subject,
      case when kind = 'test' then coalesce(body, '') end as body, queued_at as created_at, due_at, attempts, tried_at, closings,
      may_have_arrived as uncertain, case when kind = 'test' then application_id end as example_id, event_id as answer_id
    from private.deliveries as delivery where kind in ('notice', 'test')`,
  'private.webhook_outbox': `
    select id as application_id, attempts, due_at as next_attempt_at, done_at as delivered_at, reply_status as last_status,
      tried_at as waits_since, queued_at, reply as last_answer
    from private.deliveries where kind = 'application'`,
  'private.answer_outbox': `
    select id, event_id as answer_id, application_id, attempts, due_at as next_attempt_at, tried_at as waits_since, queued_at,
      reply as last_answer
    from private.deliveries where kind = 'rsvp'`,
  'private.acceptances': `
    select application_id, token, is_accepted, told_at, deadline as kept_until, rsvp as answer, rsvp_at as answered_at,
      is_deadline_set
    from private.invitations`,
  // A migration adds the templates of confirmations and of questions.
  'private.templates': `
    select name as occasion, version, subject, body from private.templates where name not in ('confirmed', 'questions')`,
  'private.letters': `
    select id, letter.application_id, occasion, letter.state, letter.subject, letter.body, letter.author, letter.act, letter.queued_at as released_at,
      letter.due_at, letter.attempts, letter.may_have_arrived as uncertain, letter.done_at as sent_at, letter.recalled_at as withdrawn_at,
      letter.recalled_by as withdrawn_by, letter.reply as answer, way, mailbox, closings, domain, otherwise
    from private.letter_deliveries as letter join private.deliveries using (id)
    union all
    select id, application_id, coalesce(template, ''), 'draft', subject, body, null, null, null, null, 0, 0, null, null, null, '',
      'mail', null, 0, null, null
    from private.letters where state = 'draft'`,
}

/**
 * Whether a migration removes a row: a withdrawn draft (whose text stays), or a decision for the automation that waits for its
 * email.
 */
const isDropped = (row: object) =>
  ('withdrawn_at' in row && 'released_at' in row && row.withdrawn_at !== null && row.released_at === null) ||
  ('way' in row &&
    'state' in row &&
    row.way === 'automation' &&
    row.state === 'waiting' &&
    'attempts' in row &&
    row.attempts === 0)

/** Finds the tables whose rows changed. Compares only their former columns. */
function changedTables(before: Record<string, object[]>, after: Record<string, object[]>) {
  const linesOf = (rows: object[], columns: string[]) =>
    rows.map((row) => JSON.stringify(columns.map((column): unknown => Reflect.get(row, column)))).toSorted()
  return Object.entries(before).flatMap(([table, rows]) => {
    const columns = Object.keys(rows[0] ?? {}).filter(
      (column) => droppedColumns[table]?.includes(column) !== true,
    )
    const [former, now] = [
      linesOf(
        rows.filter((row) => !isDropped(row)),
        columns,
      ),
      linesOf(after[table] ?? [], columns),
    ]
    const differences = [
      ...former.filter((line) => !now.includes(line)),
      ...now.filter((line) => !former.includes(line)),
    ]
    return differences.length > 0 || former.length !== now.length ? [{ table, differences }] : []
  })
}

/** The view that 1.0.0's desk had, with changed lines for some applications. */
async function deskViewWith(changed: Record<string, string> = {}): Promise<string[]> {
  const lines = new Map(
    (await readLines('desk-view.txt'))
      // 1.0.0 numbered the personal letters of an applicant.
      .map((line) => line.replaceAll('personal no. 2', 'personal'))
      .map((line) => [line.split(' | ', 1)[0] ?? '', line] as const),
  )
  for (const [name, line] of Object.entries(changed)) lines.set(name, `${name} | ${line}`)
  return [...lines.values()]
}

const readLines = async (file: string) =>
  (await readFile(`${folder}/${file}`, 'utf8')).split('\n').filter((line) => line !== '')

/** Starts a mail server and an automation that accept everything. */
async function startReceivers() {
  const [mailServer, receiver] = await Promise.all([startMailServer(), startReceiver()])
  const describeRequest = ({ url, body }: { url: string; body: string }) => {
    const fields = new URLSearchParams(body)
    const kind = fields.get('event') ?? url.slice(1)
    return `${kind}: ${fields.get('email')?.split('@')[0]} ${fields.get('answer') ?? fields.get('status') ?? ''}`.trim()
  }
  return {
    settings: {
      SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
      MAIL_FROM: 'hello@example.org',
      MAIL_PER_MINUTE: '0',
      SITE_URL: 'https://retreat.example.org',
      WEBHOOK_URL: `${receiver.origin}/application`,
      WEBHOOK_DECISIONS_URL: `${receiver.origin}/decision`,
    },
    /** All emails and requests so far, a line each. */
    received: () =>
      [
        ...mailServer.received.map(({ to, subject }) => `mail: ${to.join()} ${subject}`),
        ...receiver.received.map(describeRequest),
      ].toSorted(),
    close: () => Promise.all([mailServer.close(), receiver.close()]),
  }
}

/**
 * Resolves when no delivery is due or being sent, except RSVPs behind an earlier RSVP that waits longer. While a delivery is
 * being sent, `due_at` is the end of its lease: of 30 seconds for webhooks, and of 90 for emails.
 */
async function waitForDeliveries(sql: Sql) {
  const findDueSoon = () => sql`
    select from private.deliveries as delivery
      where due_at <= now() + interval '30 seconds' and not exists (
        select from private.deliveries as earlier where earlier.application_id = delivery.application_id
          and earlier.event_id < delivery.event_id and earlier.due_at is not null)
    union all select from private.deliveries
      where kind in ('letter', 'receipt', 'notice', 'test') and due_at <= now() + interval '90 seconds'`
  await expect.poll(async () => (await findDueSoon()).length, { timeout: 120_000 }).toBe(0)
}

/** Returns a client, and the settings with which one server after another runs at the client's address. */
async function clientOfServers(url: string) {
  const port = String(await freePort())
  return { settings: { DATABASE_URL: url, PORT: port }, client: clientOf(`http://127.0.0.1:${port}`) }
}

/** The credentials in the fixtures: a password, the secret of a second factor, a refresh token, and a link to sign in. */
const readSecrets = async () =>
  JSON.parse(await readFile(`${folder}/secrets.json`, 'utf8')) as {
    password: string
    factor: string
    refreshToken: string
    olgasLink: string
  }

/** Sends an application. Its deliveries become due after all earlier ones. */
async function apply(origin: string) {
  const status = await send(origin, anApplication({ email: 'newcomer@example.net' }))
  if (status !== 201) throw new Error(`The application was answered with ${status}.`)
}

/** The RSVPs that were not delivered to the automation. The desk does not show these deliveries. */
async function rsvpsToDeliver(sql: Sql) {
  const rows = await sql<{ line: string }[]>`
    select split_part(email, '@', 1) || ': ' || attempts || 'x, ' || case state when 'failed' then 'given up, ' else '' end
      || reply as line
    from private.deliveries join public.retreat_applications as application on application.id = application_id
    where kind = 'rsvp' and state in ('waiting', 'sending', 'failed')
    order by email, event_id`
  return rows.map(({ line }) => line)
}

type Postgres = Pick<TestPostgres, 'url' | 'admin'>

/**
 * Migrates the dump with current servers, and lets them make all due deliveries.
 *
 * @param postgres An empty database server.
 * @returns The result, for comparison with `dumpMigrated`.
 */
export async function migrateDump({ url, admin }: Postgres) {
  await loadDump(admin)
  const before = await rowsOf(admin)
  const { settings, client } = await clientOfServers(url())
  let server = await startServer(settings)
  const changed = changedTables(before, await rowsOf(admin))
  const { password, factor, refreshToken: refresh_token, olgasLink } = await readSecrets()
  // The errors of a refresh token, a link, a password and a second factor.
  const refused = [
    (await clientOf(server.origin).auth.refreshSession({ refresh_token })).error,
    (await signInByLink(server.origin, olgasLink)).refused,
    (await client.auth.signInWithPassword({ email: 'ines@example.org', password })).error,
  ]
  const [verified] = (await client.auth.mfa.listFactors()).data?.totp ?? []
  const code = new TOTP({ secret: Secret.fromBase32(factor) }).generate()
  refused.push((await client.auth.mfa.challengeAndVerify({ factorId: verified?.id ?? '', code })).error)
  const deskView = await deskViewOf(client)
  await server.stop()

  const receivers = await startReceivers()
  server = await startServer({ ...settings, ...receivers.settings })
  await waitForDeliveries(admin)
  await server.stop()
  const sent = receivers.received()
  // A second server must not deliver anything again.
  server = await startServer({ ...settings, ...receivers.settings })
  await apply(server.origin)
  await waitForDeliveries(admin)
  const deskViewLater = await deskViewOf(client)
  await server.stop()
  const sentLater = receivers.received()
  await receivers.close()
  return {
    changed,
    refused,
    deskView,
    sent,
    sentLater,
    deskViewLater,
    rsvps: await rsvpsToDeliver(admin),
  }
}

const dueDeliveries = [
  'answer: answer-claimed not coming',
  'answer: answer-untold coming',
  'application: delivery-claimed',
  'application: untouched',
  'decision: automation-sending waitlisted',
  'decision: taken-over declined',
  'decision: waiting declined',
  'mail: ines@example.org New application: receipt-sending Tester',
  'mail: ines@example.org New application: untouched Tester',
  'mail: ines@example.org answer-untold Tester is coming',
  'mail: receipt-sending@example.com We have your application',
  'mail: reminder-waiting@example.com Are you coming to Unplugged?',
  'mail: sending@example.com Your application to Unplugged',
  'mail: untouched@example.com We have your application',
  'mail: waiting-kept@example.com Your application to Unplugged',
  'mail: waiting@example.com Your application to Unplugged',
]

/** The dump after its migration and all due deliveries. */
export const dumpMigrated: Awaited<ReturnType<typeof migrateDump>> = {
  changed: [],
  refused: [null, null, null, null],
  deskView: await deskViewWith({
    waiting: 'declined | delivered: 1x 200 | received sent 1x | declined waiting',
  }),
  sent: dueDeliveries,
  sentLater: [
    ...dueDeliveries,
    'application: newcomer',
    'mail: newcomer@example.net We have your application',
  ].toSorted(),
  deskViewLater: await deskViewWith({
    // The server was killed during the first attempt.
    'taken-over':
      'declined | delivered: 1x 200 | received withdrawn overtaken | declined sent 2x uncertain 1x | declined to the automation sent 2x uncertain 1x',
    sending:
      'declined | delivered: 1x 200 | received sent 1x | declined sent 2x uncertain 1x | declined to the automation sent 1x',
    'automation-sending':
      'waitlisted | delivered: 1x 200 | received sent 1x | waitlisted sent 1x | waitlisted to the automation sent 2x uncertain 1x',
    'receipt-sending': 'new | delivered: 1x 200 | received sent 2x uncertain 1x',
    'delivery-claimed': 'new | delivered: 2x 200 | received sent 1x',
    // The letter is not retried because another decision followed.
    'sending-overtaken':
      'waitlisted | delivered: 1x 200 | received sent 1x | declined withdrawn overtaken 1x uncertain 1x | declined to the automation sent 1x | waitlisted draft',
    waiting:
      'declined | delivered: 1x 200 | received sent 1x | declined sent 1x | declined to the automation sent 1x',
    'waiting-kept':
      'declined | delivered: 1x 200 | received sent 1x | declined sent 1x | declined to the automation sent 1x',
    'reminder-waiting':
      'accepted, no answer | delivered: 1x 200 | received sent 1x | accepted sent 1x | accepted to the automation sent 1x | reminder sent 1x',
    untouched: 'new | delivered: 1x 200 | received sent 1x',
    newcomer: 'new | delivered: 1x 200 | received sent 1x',
  }),
  rsvps: [
    'answer-behind: 3x, HTTP 500',
    'answer-behind: 0x, ',
    'answer-failing: 3x, HTTP 500',
    'answer-given-up: 10x, given up, HTTP 500',
    'answer-refused: 1x, given up, HTTP 410',
    'answer-unanswered: 3x, No answer came.',
  ],
}

/**
 * Restores the backup, starts a server, resumes letters, opens the form, and lets the server make all due deliveries.
 *
 * @param postgres An empty database server.
 * @returns The result, for comparison with `backupRestored`.
 */
export async function restoreBackup({ url, admin }: Postgres) {
  const { settings, client } = await clientOfServers(url())
  const { stdout } = await runCommand(['restore', '--from', `${folder}/backup`], settings)
  const message = stdout.split(' to PostgreSQL ')[0]
  const files = (await readdir(`${folder}/backup`)).filter((file) => file.endsWith('.jsonl'))
  const written: Record<string, object[]> = {}
  for (const file of files) {
    const lines = await readLines(`backup/${file}`)
    written[file.replace('.jsonl', '')] = lines.map((line) => JSON.parse(line) as object)
  }
  const restored = await rowsOf(admin)
  // A restore stops pending letters, because the original database may have sent them.
  const idOf = (row: object) => ('id' in row ? row.id : undefined)
  const letters = written['private.letters'] ?? []
  const unchangedLetters = letters.filter(
    (row) => !('state' in row && /^(waiting|sending)$/.test(String(row.state))),
  )
  const ids = new Set(unchangedLetters.map(idOf))
  written['private.letters'] = unchangedLetters
  restored['private.letters'] = restored['private.letters']?.filter((row) => ids.has(idOf(row))) ?? []
  const changed = changedTables(written, restored)
  const { rows } = readCsv((await runCommand(['applications', '--csv', '--no-bom'], settings)).stdout)
  const row = rows.find(({ email }) => email === 'noted-coming@example.com')

  await moveTimes(admin)
  const receivers = await startReceivers()
  const server = await startServer({ ...settings, ...receivers.settings })
  const { password } = await readSecrets()
  // The errors of a password, and of resuming letters.
  const refused = [
    (await client.auth.signInWithPassword({ email: 'ines@example.org', password })).error,
    (await client.rpc('desk_stop', { stopped: false })).error,
  ]
  await runCommand(['door', '--open'], settings)
  await apply(server.origin)
  await waitForDeliveries(admin)
  const deskView = await deskViewOf(client)
  await server.stop()
  const sent = receivers.received()
  await receivers.close()
  return { message, changed, row, refused, sent, deskView, rsvps: await rsvpsToDeliver(admin) }
}

/** The backup after its restore and all due deliveries. */
export const backupRestored: Awaited<ReturnType<typeof restoreBackup>> = {
  message: 'Restored 87 applications and the accounts of 4 organisers',
  changed: [],
  row: expect.objectContaining({
    status: 'accepted',
    answer: 'coming',
    answered_at: expect.stringMatching(/^2026-11-2/) as string,
    decided_by: 'ines@example.org',
    decided_at: expect.stringMatching(/^2026-11-2/) as string,
  }) as Record<string, string>,
  refused: [null, null],
  sent: [
    'application: delivery-claimed',
    'application: newcomer',
    'application: untouched',
    'mail: ines@example.org New application: Ada',
    'mail: newcomer@example.net We have your application',
  ],
  deskView: await deskViewWith({
    later:
      'declined | delivered: 1x 200 | declined withdrawn overtaken 3x | declined to the automation sent 1x | declined draft',
    closing:
      'declined | delivered: 1x 200 | declined withdrawn overtaken 3x | declined to the automation sent 1x | declined draft',
    uncertain:
      'declined | delivered: 1x 200 | declined withdrawn overtaken 3x uncertain 1x | declined to the automation sent 1x | declined no. 2 draft',
    'automation-failing':
      'waitlisted | delivered: 1x 200 | waitlisted sent 1x | waitlisted to the automation withdrawn overtaken 4x',
    'automation-unanswered':
      'waitlisted | delivered: 1x 200 | waitlisted sent 1x | waitlisted to the automation withdrawn overtaken 3x uncertain 3x',
    'receipt-later': 'new | delivered: 1x 200 | received withdrawn overtaken 3x',
    'taken-over':
      'declined | delivered: 1x 200 | received withdrawn overtaken | declined sent 2x uncertain 1x | declined to the automation withdrawn overtaken 1x',
    sending:
      'declined | delivered: 1x 200 | received sent 1x | declined withdrawn overtaken 1x | declined to the automation sent 1x | declined draft',
    'sending-overtaken':
      'waitlisted | delivered: 1x 200 | received sent 1x | declined withdrawn overtaken 1x | declined to the automation sent 1x | waitlisted draft',
    'automation-sending':
      'waitlisted | delivered: 1x 200 | received sent 1x | waitlisted sent 1x | waitlisted to the automation withdrawn overtaken 1x',
    waiting:
      'declined | delivered: 1x 200 | received sent 1x | declined withdrawn overtaken | declined draft',
    'waiting-kept':
      'declined | delivered: 1x 200 | received sent 1x | declined withdrawn overtaken | declined to the automation sent 1x | declined draft',
    'reminder-waiting':
      'accepted, no answer | delivered: 1x 200 | received sent 1x | accepted sent 1x | accepted to the automation sent 1x | reminder withdrawn overtaken | reminder draft',
    'delivery-claimed': 'new | delivered: 2x 200 | received sent 1x',
    'receipt-sending': 'new | delivered: 1x 200 | received withdrawn overtaken 1x',
    untouched: 'new | delivered: 1x 200 | received withdrawn overtaken',
    newcomer: 'new | delivered: 1x 200 | received sent 1x',
  }),
  rsvps: [],
}
