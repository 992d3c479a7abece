import { readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Secret, TOTP } from 'otpauth'
import { beforeAll, expect, test } from 'vitest'

import { newProject } from '../../support/hosted-project.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { clientOf, signInByLink } from '../../support/sign-in-by-link.ts'
import { freePort } from '../../support/ports.ts'
import { startPostgres, type TestPostgres } from '../../support/postgres.ts'
import { startReceiver } from '../../support/receiver.ts'
import { dataDirectory, runCommand, startServer, temporaryDirectory } from '../../support/server.ts'
import { connectToEmbedded } from '../../support/sql.ts'

let postgres: TestPostgres

beforeAll(async () => {
  postgres = await startPostgres()
})

test('an added organiser signs in once with the printed link, and loses access at once when removed', async () => {
  const directory = await dataDirectory()
  const settings = { DATA_DIR: directory.path, SITE_URL: 'https://example.org/retreat' }
  const organisers = (...args: string[]) => runCommand(['organisers', ...args], settings)
  const server = await startServer(settings)

  expect(await organisers()).toMatchObject({ code: 0, stdout: '' })
  const added = await organisers('--add', ' Ada@Example.org')
  expect(added).toMatchObject({ code: 0 })
  expect(added.stdout).toMatch(
    /^https:\/\/example\.org\/retreat\/desk#token_hash=[0-9a-f]{64}&type=magiclink\n$/,
  )
  // Opening the link shows a page with a button, and does not use the link up.
  await fetch(`${server.origin}/desk`)
  const { client, refused } = await signInByLink(server.origin, added.stdout)
  expect(refused).toBeNull()
  expect(await client.rpc('desk_me')).toMatchObject({ data: { email: 'ada@example.org' }, error: null })
  expect(await signInByLink(server.origin, added.stdout)).toMatchObject({ refused: 'otp_expired' })
  expect((await organisers()).stdout).toMatch(/^ada@example\.org {2}signed in last on \d{4}-\d\d-\d\d\n$/)

  const addedAgain = await organisers('--add', 'ada@example.org', '--name', ' Ada ')
  expect(addedAgain.stderr).toContain('ada@example.org is an organiser already, and may do everything.')
  expect((await organisers()).stdout).toMatch(/^ada@example\.org \(Ada\) {2}signed in/)
  expect(await client.rpc('desk_me')).toMatchObject({ data: { name: 'Ada' } })
  // A refused name adds nobody.
  expect(await organisers('--add', 'grace@example.org', '--name', 'ADA')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Somebody else has this name.') as string,
  })
  expect((await organisers()).stdout).not.toContain('grace')
  expect(await organisers('--link', 'ada@example.org', '--name', 'Ada')).toMatchObject({ code: 1 })
  // Somebody may do everything at any time.
  expect(await organisers('--add', 'ada@example.org', '--reader')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Let another organiser do everything first') as string,
  })
  expect((await organisers('--add', 'grace@example.org', '--reader')).stderr).toContain(
    'grace@example.org is a reader now.',
  )
  expect((await organisers()).stdout).toMatch(/^grace@example\.org {2}reader, never signed in$/m)
  expect((await organisers('--add', 'grace@example.org')).stderr).toContain(
    'grace@example.org is an organiser already, and may do everything.',
  )
  expect((await organisers()).stdout).toMatch(/^grace@example\.org {2}never signed in$/m)
  expect(await organisers('--remove', 'grace@example.org')).toMatchObject({ code: 0 })
  expect(await organisers('--remove', 'ada@example.org')).toMatchObject({ code: 0 })
  expect(await client.rpc('desk_me')).toMatchObject({ status: 403, error: { code: '42501' } })
  expect((await client.auth.getUser()).error).toMatchObject({ code: 'user_not_found' })
  expect((await client.auth.refreshSession()).error).toMatchObject({ code: 'refresh_token_not_found' })
  expect((await organisers()).stdout).toBe('')
})

test('organisers can be added while no server runs, and sessions, keys and links survive a restart', async () => {
  const directory = await dataDirectory()
  const port = await freePort()
  const settings = { DATA_DIR: directory.path, PORT: String(port) }
  await (await startServer(settings)).stop()
  const [first, second] = [
    await runCommand(['organisers', '--add', 'ada@example.org'], settings),
    await runCommand(['organisers', '--add', 'grace@example.org'], settings),
  ]
  expect(first.stderr).toContain(
    `\nSITE_URL is not set, and no server answers at http://127.0.0.1:${port}, where the link leads: start it`,
  )
  const server = await startServer(settings)
  const { client } = await signInByLink(server.origin, first.stdout)
  const keys = async (origin: string) =>
    (await fetch(`${origin}/auth/v1/.well-known/jwks.json`)).json() as Promise<{ keys: { kid: string }[] }>
  const before = await keys(server.origin)
  const { data } = await client.auth.getSession()
  await server.stop('SIGKILL')

  const next = await startServer(settings)
  const restarted = clientOf(next.origin)
  const tokens = data.session ?? { access_token: '', refresh_token: '' }
  expect((await restarted.auth.setSession(tokens)).error).toBeNull()
  expect(await restarted.rpc('desk_me')).toMatchObject({ data: { email: 'ada@example.org' } })
  expect((await restarted.auth.refreshSession()).error).toBeNull()
  expect(await keys(next.origin)).toEqual(before)
  expect((await signInByLink(next.origin, second.stdout)).refused).toBeNull()

  // Makes a new key for signing. Signatures of the first key remain valid.
  expect(await runCommand(['organisers', '--new-key'], settings)).toMatchObject({ code: 0 })
  await next.stop()
  // Starts another server, because a running server looks for a new key only at intervals.
  const last = await startServer(settings)
  const after = await keys(last.origin)
  expect(after.keys.map(({ kid }) => kid)).toContain(before.keys[0]?.kid)
  expect(after.keys).toHaveLength(2)
})

// break: sign-in-link-leads-to-other-program
test('without SITE_URL a link leads to the running server, and no link is made if another program is at its port', async () => {
  const [directory, foreign] = [await dataDirectory(), await startReceiver()]
  const settings = { DATA_DIR: directory.path, PORT: new URL(foreign.origin).port }
  const link = (...args: string[]) => runCommand(['organisers', ...args, 'ada@example.org'], settings)
  const refused = async (sentence: string) => {
    const { code, stdout, stderr } = await link('--link')
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr.split('\n')).toContain(
      `${sentence} No link was made. When the server runs, run: node ${resolve('start.js')} organisers --link ada@example.org`,
    )
  }
  // The port was assigned automatically, so no setting of the command names it.
  const server = await startServer({ ...settings, PORT: '0' })
  const { stdout, stderr } = await link('--add')
  expect(stdout).toMatch(new RegExp(`^${server.origin}/desk#token_hash=`))
  expect(stderr).toContain(`\nSITE_URL is not set, so the link leads to ${server.origin}, where only`)
  expect((await signInByLink(server.origin, stdout)).refused).toBeNull()
  server.process.kill('SIGSTOP')
  await refused(
    `A program listens at ${server.origin} and does not respond within 8 s: restart the server if it is ours; otherwise stop it, or set PORT to another.`,
  )
  server.process.kill('SIGCONT')
  await server.stop()
  await refused(`Another program listens at ${foreign.origin} (HTTP 200): stop it, or set PORT to another.`)
  settings.PORT = '0'
  await refused('PORT is "0", and no server runs on this database: start it first.')
})

test('`--reset-factor` ends all sessions of an organiser, who then signs in without a second factor', async () => {
  const directory = await dataDirectory()
  const settings = { DATA_DIR: directory.path }
  const server = await startServer(settings)
  const { stdout } = await runCommand(['organisers', '--add', 'ada@example.org'], settings)
  const { client } = await signInByLink(server.origin, stdout)
  const { data: factor } = await client.auth.mfa.enroll({ factorType: 'totp' })
  const secret = Secret.fromBase32(factor?.totp.secret ?? '')
  const verified = await client.auth.mfa.challengeAndVerify({
    factorId: factor?.id ?? '',
    code: new TOTP({ secret }).generate(),
  })
  expect(verified.error).toBeNull()
  expect((await runCommand(['organisers'], settings)).stdout).toContain('with a second factor')
  const link = async () => (await runCommand(['organisers', '--link', 'ada@example.org'], settings)).stdout
  const { client: withoutCode } = await signInByLink(server.origin, await link())
  expect(await withoutCode.rpc('desk_me')).toMatchObject({ error: { code: '42501' } })

  const reset = await runCommand(['organisers', '--reset-factor', 'ada@example.org'], settings)
  expect(reset).toMatchObject({ code: 0 })
  for (const formerClient of [client, withoutCode]) {
    expect((await formerClient.auth.getUser()).error).toMatchObject({ name: 'AuthSessionMissingError' })
  }
  const { client: afterwards } = await signInByLink(server.origin, await link())
  expect(await afterwards.rpc('desk_me')).toMatchObject({ data: { email: 'ada@example.org' } })
})

test('an invalid address, an unknown address and two options at once are each refused with a sentence', async () => {
  const directory = await dataDirectory()
  const settings = { DATA_DIR: directory.path }
  await (await startServer(settings)).stop()
  const refused = async (args: string[], sentence: RegExp) => {
    const { code, stdout, stderr } = await runCommand(['organisers', ...args], settings)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr.replace(/^Using .*\n/, '')).toMatch(sentence)
  }
  await refused(['--add', 'ada'], /^"ada" is not an email address\.\n$/)
  await refused(['--link', 'ada@example.org'], /^There is no organiser ada@example\.org: .*\n$/)
  await refused(['--remove', 'ada@example.org'], /^There is no organiser ada@example\.org: .*\n$/)
  await refused(['--add', 'a@b.org', '--remove', 'a@b.org'], /^Use either --add or --remove\.\n$/)
  await refused(['--add', 'a@b.org', '--add', 'c@d.org'], /^--add takes one email address\.\n$/)
})

test('two servers on one database share keys, sessions and codes', async () => {
  await postgres.admin`create database shared`
  const mail = await startMailServer()
  const settings = {
    DATABASE_URL: postgres.url('shared'),
    SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
    MAIL_FROM: 'hello@example.org',
  }
  const [one, two] = await Promise.all([startServer(settings), startServer(settings)])
  const add = (origin: string) =>
    runCommand(['organisers', '--add', 'ada@example.org'], { ...settings, PORT: new URL(origin).port })
  const { stdout } = await add(one.origin)
  expect(new URL(stdout).origin).toBe(one.origin)
  const elsewhere = await dataDirectory()
  const other = await startServer({ DATA_DIR: elsewhere.path })
  expect(await add(other.origin)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining(
      `The server at ${other.origin} uses another database than this one: stop it, or set PORT. No link was made.`,
    ) as string,
  })
  const { client } = await signInByLink(one.origin, stdout)
  const { data } = await client.auth.getSession()
  const clientOfTwo = clientOf(two.origin)
  const tokens = data.session ?? { access_token: '', refresh_token: '' }
  expect((await clientOfTwo.auth.setSession(tokens)).error).toBeNull()
  expect(await clientOfTwo.rpc('desk_me')).toMatchObject({ data: { email: 'ada@example.org' } })

  const clientOfOne = clientOf(one.origin)
  expect((await clientOfOne.auth.signInWithOtp({ email: 'ada@example.org' })).error).toBeNull()
  expect((await clientOf(two.origin).auth.signInWithOtp({ email: 'ada@example.org' })).error).toMatchObject({
    status: 429,
    code: 'over_email_send_rate_limit',
  })
  const [received] = await mail.waitFor(1, 'ada@example.org')
  const verified = await clientOfTwo.auth.verifyOtp({
    email: 'ada@example.org',
    token: received?.code ?? '',
    type: 'email',
  })
  expect(verified.error).toBeNull()
})

test('a backup has the accounts without sessions, codes, second factors and keys, and a restore says so', async () => {
  const [database, directory] = [await dataDirectory(), await temporaryDirectory()]
  const settings = { DATA_DIR: database.path }
  const restored = { DATA_DIR: join(directory.path, 'restored') }
  const folder = join(directory.path, 'backup')
  const server = await startServer(settings)
  const { stdout } = await runCommand(['organisers', '--add', 'ada@example.org'], settings)
  const { client } = await signInByLink(server.origin, stdout)
  expect((await client.auth.updateUser({ password: 'correct horse' })).error).toBeNull()
  const { data: factor } = await client.auth.mfa.enroll({ factorType: 'totp' })
  await runCommand(['organisers', '--link', 'ada@example.org'], settings)
  const sql = connectToEmbedded(settings.DATA_DIR)
  const [key] = await sql<
    { kid: string; d: string }[]
  >`select kid, jwk ->> 'd' as d from private.signing_keys`
  await sql.end()

  const backup = await runCommand(['backup', '--to', folder], settings)
  expect(backup.stdout).toBe(`Wrote 0 applications and the account of 1 organiser into ${folder}.\n`)
  const files = await readdir(folder)
  expect(files).toContain('auth.users.jsonl')
  const all = (await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))).join('\n')
  for (const secret of [key?.d, key?.kid, factor?.totp.secret]) expect(all).not.toContain(String(secret))
  await server.stop()

  const restore = await runCommand(['restore', '--from', folder], restored)
  expect(restore).toMatchObject({ code: 0 })
  expect(restore.stdout).toMatch(
    /^Restored 0 applications and the account of 1 organiser to .*\nPasswords were restored; .*\nOrganisers are those of the backup, .*\n$/,
  )
  expect(await runCommand(['restore', '--from', folder], restored)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('The database holds accounts of organisers already') as string,
  })
  const next = await startServer(restored)
  const { data } = await client.auth.getSession()
  expect((await clientOf(next.origin).auth.getUser(data.session?.access_token)).error).toMatchObject({
    code: 'bad_jwt',
  })
  const newClient = clientOf(next.origin)
  const signedIn = await newClient.auth.signInWithPassword({
    email: 'ada@example.org',
    password: 'correct horse',
  })
  expect(signedIn.error).toBeNull()
  expect(signedIn.data.user?.factors).toBeUndefined()
  expect(await newClient.rpc('desk_me')).toMatchObject({ data: { email: 'ada@example.org' } })
})

test("for a hosted project, the command changes only who is an organiser, and not the project's accounts", async () => {
  const project = await newProject(postgres, 'organised')
  const settings = { DATABASE_URL: project.url }
  const server = await startServer(settings)
  const response = await fetch(`${server.origin}/auth/v1/user`, { headers: { apikey: 'public-anon-key' } })
  expect(response.status).toBe(404)
  expect(((await response.json()) as { msg: string }).msg).toMatch(
    /^Nobody can sign in here: .* Supabase project/,
  )
  expect(await (await fetch(`${server.origin}/desk`)).text()).toContain('"isSignInElsewhere":true')
  await server.stop()

  const organisers = (...args: string[]) => runCommand(['organisers', ...args], settings)
  const add = () => organisers('--add', 'ada@example.org', '--name', 'Ada')
  expect(await add()).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /has no account ada@example\.org: add it in the project's dashboard/,
    ) as string,
  })
  await project.asSupabase`insert into auth.users (email) values ('Ada@example.org')`
  expect(await add()).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/is not confirmed: /) as string,
  })
  await project.asSupabase`update auth.users set email_confirmed_at = now()`
  expect(await add()).toMatchObject({ code: 0, stdout: 'ada@example.org is an organiser now.\n' })
  expect((await organisers()).stdout).toBe('Ada@example.org (Ada)  never signed in\n')
  expect(await organisers('--link', 'ada@example.org')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/Supabase project's, which sends the links/) as string,
  })

  // These are the steps that a project's data interface takes for a call with the token of a session.
  const [account] = await project.asSupabase<{ id: string }[]>`select id from auth.users`
  const session = crypto.randomUUID()
  await project.asSupabase`insert into auth.sessions (id, user_id, aal) values (${session}, ${account?.id ?? ''}, 'aal1')`
  const claims = JSON.stringify({ sub: account?.id, session_id: session, aal: 'aal1', role: 'authenticated' })
  const me = () =>
    project.asSupabase.begin(async (transaction) => {
      await transaction`select set_config('request.jwt.claims', ${claims}, true)`
      await transaction`set local role authenticated`
      return transaction`select public.desk_me() as me`
    })
  expect(await me()).toEqual([{ me: { email: 'Ada@example.org', name: 'Ada' } }])
  await project.asSupabase`insert into auth.mfa_factors values (gen_random_uuid(), ${account?.id ?? ''}, 'verified')`
  await expect(me()).rejects.toMatchObject({ code: '42501' })
  await project.asSupabase`delete from auth.mfa_factors`

  const directory = await temporaryDirectory()
  await runCommand(['backup', '--to', join(directory.path, 'backup')], settings)
  // The backup has no organisers, because their accounts belong to the project.
  expect(await readdir(join(directory.path, 'backup'))).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/^auth\.|organisers/)]),
  )
  await directory.remove()

  expect(await organisers('--remove', 'ada@example.org')).toMatchObject({ code: 0 })
  await expect(me()).rejects.toMatchObject({ code: '42501' })
  expect(await project.asSupabase`select email from auth.users`).toEqual([{ email: 'Ada@example.org' }])

  // An international domain, in either form, belongs to the account that the project stores with the other one.
  const grace = 'Grace@xn--mnchen-3ya.example'
  await project.asSupabase`insert into auth.users (email, email_confirmed_at) values (${grace}, now())`
  expect(await organisers('--add', 'grace@münchen.example')).toMatchObject({
    stdout: 'grace@münchen.example is an organiser now.\n',
  })
  expect((await organisers()).stdout).toBe('Grace@münchen.example  never signed in\n')
  await project.asSupabase`update auth.users set email = 'grace@münchen.example' where email = ${grace}`
  expect(await organisers('--remove', 'grace@xn--mnchen-3ya.example')).toMatchObject({ code: 0 })
})
