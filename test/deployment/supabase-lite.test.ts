import { execFile } from 'node:child_process'
import { cp, mkdir } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createClient, type SupabaseClient } from '@supabase/supabase-js'
import type { Page } from 'playwright-core'
import { beforeAll, expect } from 'vitest'
import ws from 'ws'

import { anApplication, getForm } from '../support/form.ts'
import { publishableKey, startHostedGateway } from '../support/hosted-gateway.ts'
import { newProject } from '../support/hosted-project.ts'
import { startMailServer } from '../support/mail-server.ts'
import { cannotRun } from '../support/requirements.ts'
import { freePort } from '../support/ports.ts'
import { startPostgres } from '../support/postgres.ts'
import { runCommand, startServer, temporaryDirectory } from '../support/server.ts'
import { writeSite, staticHost } from '../support/static-site.ts'
import { fetchSupabaseLite, noLite, startSupabaseLite, type SupabaseLite } from '../support/supabase-lite.ts'
import { test } from '../support/browser-test.ts'

/** The version that docs/hosted.md names. */
const cli = 'supabase@3.1.0'

// These tests run the product with a hosted project, as far as Supabase is available here. They use a real PostgreSQL
// with a project's roles and default privileges, `supabase db push`, and the static build on another origin.
// `@supabase/lite`, Supabase's small server, runs in place of a project's servers.
// docs/decisions/0053-calls-of-the-pages.md lists its limits. Lite accepts the public key as a bearer token. A project does
// not, so the pages call a stand-in for its gateway.
let lite: SupabaseLite | undefined
let project: Awaited<ReturnType<typeof newProject>>
/** The origin of the static build. */
let site: string

beforeAll(async () => {
  const directory = await temporaryDirectory()
  const liteFolder = join(directory.path, 'lite')
  await mkdir(liteFolder)
  if (!(await fetchSupabaseLite(liteFolder))) return
  const database = await startPostgres()
  project = await newProject(database)
  // Lite's role `lite` owns the schema of accounts, like a project's sign-in. Like a project's data interface, it may become
  // the caller's role.
  await project.asSupabase.unsafe(`
    set client_min_messages = warning;
    drop schema auth cascade;
    create role lite login;
    grant anon, authenticated, service_role to lite;
    create schema auth authorization lite;
    grant create on database project to lite;
  `)
  site = `http://127.0.0.1:${await freePort()}`
  const started = await startSupabaseLite(liteFolder, database.url('project', 'lite'), site)
  lite = started
  // Adds what Lite lacks of a project: second factors, the auth server's table of migrations, and the owner's right to read
  // accounts. Drops Lite's record of the schema's migrations, because the CLI makes its own.
  await project.asSupabase.unsafe(`
    drop schema supabase_migrations cascade;
    create table auth.schema_migrations (version text primary key);
    create table auth.mfa_factors (id uuid primary key, user_id uuid references auth.users on delete cascade, status text);
    grant usage on schema auth to anon, authenticated, project_owner;
    grant select on all tables in schema auth to project_owner;
    grant references on auth.users to project_owner;
  `)
  await cp('supabase', join(directory.path, 'supabase'), { recursive: true })
  const push = ['supabase', 'db', 'push', '--yes', `--remote=${project.url}?sslmode=disable`]
  await promisify(execFile)('npm', ['exec', '--yes', '--package', cli, '--', ...push], {
    cwd: directory.path,
  })
  const gateway = await startHostedGateway({ origin: started.origin, key: started.publicKey })
  const root = await writeSite(directory.path, {
    VITE_SUPABASE_URL: gateway.origin,
    VITE_SUPABASE_ANON_KEY: publishableKey,
  })
  const host = await staticHost(root, '/')
  await host.listen({ host: '127.0.0.1', port: Number(new URL(site).port) })
  // In its first call with row level security, Lite tries to grant everything to everybody. The database refuses that,
  // because Lite's role does not own the tables.
  await clientOf(started).rpc('desk_me')
})

function clientOf({ origin, publicKey }: SupabaseLite): SupabaseClient {
  return createClient(origin, publicKey, {
    auth: { persistSession: false, autoRefreshToken: false },
    realtime: { transport: ws as never },
  })
}

/** Makes an account of the project by a sign-up, and signs in. */
async function account(server: SupabaseLite, email: string) {
  const client = clientOf(server)
  const requested = await client.auth.signInWithOtp({ email, options: { shouldCreateUser: true } })
  const token = /Your code is (\d{6})\./.exec(mailTo(server, email))?.[1] ?? ''
  const signedIn = await client.auth.verifyOtp({ email, token, type: 'magiclink' })
  expect([requested.error, signedIn.error]).toEqual([null, null])
  return client
}

const mailTo = ({ mails }: SupabaseLite, email: string) =>
  mails.findLast(({ to }) => to === email)?.html ?? ''

const makeOrganiser = (email: string) =>
  runCommand(['organisers', '--add', email], { DATABASE_URL: project.url })

test('through `@supabase/lite` only organisers can call the functions of the desk, and nobody can read a table', async ({
  skip,
}) => {
  if (!lite) return cannotRun(skip, noLite)
  const stranger = await account(lite, 'stranger@example.org')
  const clients = { visitor: clientOf(lite), stranger, former: await account(lite, 'former@example.org') }
  const added = await makeOrganiser('former@example.org')
  expect(added.code).toBe(0)
  expect((await clients.former.rpc('desk_me')).data).toEqual({ email: 'former@example.org' })
  await runCommand(['organisers', '--remove', 'former@example.org'], { DATABASE_URL: project.url })

  for (const [name, client] of Object.entries(clients)) {
    expect([name, (await client.rpc('desk_me')).error?.code]).toEqual([name, '42501'])
    const { error } = await client.from('retreat_applications').select()
    expect(error?.code).toBe('42501')
  }
})

/** The parts of the desk, as an organiser finds them. */
const on = (page: Page) => ({
  button: (name: string) => page.getByRole('button', { name, exact: true }),
  says: async (text: string) => {
    await expect.poll(() => page.getByRole('status').textContent()).toBe(text)
  },
})

test('through `@supabase/lite` an applicant applies, and on the static desk an organiser decides, notes, undoes and exports', async ({
  visitor,
  skip,
}) => {
  if (!lite) return cannotRun(skip, noLite)
  const application = anApplication()
  const name = `${application.first_name} ${application.last_name}`
  const applicant = await visitor.open(site)
  const form = getForm(applicant)
  await form.fill(application)
  await form.button.click()
  await form.success.waitFor()

  const email = 'ada@example.org'
  const otherSession = await account(lite, email)
  expect((await makeOrganiser(email)).code).toBe(0)
  const page = await visitor.open(`${site}/desk/`)
  const desk = on(page)
  await page.getByLabel('Email', { exact: true }).fill(email)
  await desk.button('Send code').click()
  await page.getByLabel('Code', { exact: true }).waitFor()
  // The email has our template. The test follows its link, because Lite does not accept codes of the type `email`, which the
  // desk sends.
  const [, link = ''] = /href="([^"]*)"/.exec(mailTo(lite, email)) ?? []
  expect(link).toMatch(`${site}/desk/#token_hash=`)
  await page.goto(link.replaceAll('&amp;', '&'))
  await desk.button('Sign in').click()
  await page.getByRole('heading', { name: 'Applications', exact: true }).waitFor()
  await page.reload()

  await page.getByRole('link', { name }).click()
  await page.getByRole('heading', { level: 1, name }).waitFor()
  await desk.button('Accept').click()
  await desk.says(`${name}: Accepted`)
  await page.getByLabel('Note', { exact: true }).fill('A strong one.')
  await desk.button('Add note').click()
  await desk.says('Note added')
  const statuses = async () => {
    const { data } = await otherSession.rpc('desk_list', { filter: { search: application.email } })
    return (data as { applications: { status: string }[] }).applications.map(({ status }) => status)
  }
  await expect.poll(statuses).toEqual(['accepted'])
  await desk.button(`Undo: ${name}, Accepted`).click()
  await desk.says(`Undone: ${name} is New again`)
  await expect.poll(statuses).toEqual(['new'])
  // The organiser declines the application in another session.
  const listed = await otherSession.rpc('desk_list', { filter: { search: application.email } })
  const [{ id, version } = { id: '', version: 0 }] = (
    listed.data as { applications: { id: string; version: number }[] }
  ).applications
  const decided = await otherSession.rpc('desk_decide', {
    act: crypto.randomUUID(),
    decisions: [{ id, version, status: 'declined' }],
  })
  expect(decided.data).toMatchObject([{ outcome: 'kept', status: 'declined' }])
  await desk.button('Accept').click()
  await page.getByRole('alert').first().waitFor()
  expect(await statuses()).toEqual(['declined'])

  await page.goto(`${site}/desk/#/?status=declined`)
  const saved = page.waitForEvent('download')
  await desk.button('Download CSV').click()
  const table = (await buffer(await (await saved).createReadStream())).toString()
  expect(table).toMatch(/^\ufeffid,created_at,/)
  expect(table).toContain(application.email)
  // The table names the organiser who decided.
  expect(table).toMatch(/,declined,,,,,,,[^,@]+@[^,]+,/)

  const events =
    await project.owner`select kind, author from private.history where application_id = ${id} order by id`
  expect(events.map(({ kind }) => kind as string)).toEqual(['status', 'note', 'status', 'status'])
  expect(new Set(events.map(({ author }) => author as string))).toEqual(new Set([email]))

  // No server runs, so an organiser erases what is due.
  await project.owner`update private.editions set starts_on = '2020-03-01', ends_on = '2020-03-04'`
  await project.owner`update private.retention set months = 1`
  await project.owner`update public.retreat_applications set created_at = '2020-01-01' where id = ${id}`
  await page.goto(`${site}/desk/#/retention`)
  await page.getByText('you erase them here').waitFor()
  await desk.button('Erase 1 application').click()
  await desk.button('Erase for good').click()
  await desk.says('1 application erased.')
  expect(await statuses()).toEqual([])
  await desk.button('Sign out').click()
  await page.getByText('You are signed out.').waitFor()
})

test('with a hosted project, a letter sent by hand or by our server has the link for the RSVP, and the link works', async ({
  visitor,
  skip,
}) => {
  if (!lite) return cannotRun(skip, noLite)
  const organiser = await account(lite, 'grace@example.org')
  expect((await makeOrganiser('grace@example.org')).code).toBe(0)
  const anonymousClient = clientOf(lite)
  const apply = async (email: string) => {
    const { error } = await anonymousClient.from('retreat_applications').insert(anApplication({ email }))
    expect(error).toBeNull()
  }
  const call = async <Result>(name: string, parameters: object = {}) => {
    const { data, error } = await organiser.rpc(name, parameters)
    if (error) throw error
    return data as Result
  }
  await project.owner`update private.letter_settings set hold = '0'`
  await apply('eve@example.com')
  const { applications } = await call<{ applications: { id: string; version: number }[] }>('desk_list', {
    filter: { search: 'eve@example.com' },
  })
  const decisions = applications.map(({ id, version }) => ({ id, version, status: 'accepted' }))
  await call('desk_decide', { act: crypto.randomUUID(), decisions })
  const { letters } = await call<{ letters: { id: string; application: string; seen: string }[] }>(
    'desk_drafts',
    {
      occasion: 'accepted',
    },
  )
  const drafts = letters.filter(({ application }) => application === applications[0]?.id)
  const send = () => call('desk_release', { act: crypto.randomUUID(), letters: drafts })
  const isSenderRunning = async () =>
    (await call<{ postman: { is_there: boolean } }>('desk_letters')).postman.is_there
  expect(await isSenderRunning()).toBe(false)
  await expect(send()).rejects.toMatchObject({
    message: expect.stringContaining('No letter can be sent') as string,
  })

  const [draft] = drafts
  const handedOver = await call<{ body: string }>('desk_hand_over', {
    act: crypto.randomUUID(),
    letter: draft?.id,
    seen: draft?.seen,
    site,
    zone: 'Europe/Berlin',
  })
  const [link = ''] = /\S+\/answer\/#\S+/.exec(handedOver.body) ?? []
  expect(link.startsWith(`${site}/answer/#`)).toBe(true)
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true }
  const page = await visitor.open(link, phone)
  await page.getByRole('button', { name: 'I am coming' }).press('Enter')
  await page.getByText('See you at').waitFor()
  expect(await call('desk_places')).toMatchObject({ coming: 1, zone: 'Europe/Berlin' })

  const mailServer = await startMailServer()
  await startServer({
    DATABASE_URL: project.url,
    SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
    MAIL_FROM: 'hello@example.org',
    MAIL_PER_MINUTE: '0',
    SITE_URL: site,
  })
  await expect.poll(isSenderRunning).toBe(true)
  await send()
  const [letter] = await mailServer.waitFor(1, 'eve@example.com')
  expect(letter).toMatchObject({
    subject: 'Your place at Unplugged',
    text: expect.stringContaining(link) as string,
  })
  await call('desk_set_letters', { version: 0, reply_to: '', receipts: true })
  await call('desk_set_notices', { notices: 'each' })
  await apply('bob@example.com')
  expect(await mailServer.waitFor(1, 'bob@example.com')).toMatchObject([
    { subject: 'We have your application' },
  ])
  const [notice] = await mailServer.waitFor(1, 'grace@example.org')
  expect(notice?.text).toContain(`${site}/desk#/applications/`)
})
