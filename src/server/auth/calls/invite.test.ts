import { beforeAll, expect, test } from 'vitest'

import {
  anonKey,
  bearerOf,
  codeOf,
  readResponse,
  startSignIn,
  type SignInServer,
} from '../../../../test/support/sign-in-server.ts'
import { addOrganiser, removeOrganiser } from '../manage-organisers.ts'

let server: SignInServer

beforeAll(async () => {
  server = await startSignIn()
})

let invitedCount = 0
const newAddress = () => `invited-${(invitedCount += 1)}@example.org`

type Client = Awaited<ReturnType<SignInServer['signedIn']>>['client']
type Call = SignInServer['call']

const version = { 'x-supabase-api-version': '2024-01-01' }
const invite = async (client: Client, fields: object, call: Call = server.call) =>
  readResponse(call('POST', 'invite', fields, { ...version, ...(await bearerOf(client)) }))

/** A server without a mail server, on the same database. */
async function withoutMail(work: (call: Call) => Promise<void>) {
  const other = await server.another({ mailServer: undefined })
  await work(other.call)
  await other.close()
}

/** Signs in by a link. Returns what the desk says of the person, and the code of a refusal. */
async function signInBy(link: string) {
  const client = server.client()
  const { hash } = new URL(link)
  const token_hash = new URLSearchParams(hash.slice(1)).get('token_hash') ?? ''
  const { error } = await client.auth.verifyOtp({ type: 'magiclink', token_hash })
  return { refused: error?.code, me: (await client.rpc('desk_me')).data as unknown }
}

test('an invited person gets an email, signs in by its link once, and has the name and the right of the invitation', async () => {
  const { client, email: inviter } = await server.signedIn()
  const [full, reader] = [newAddress(), newAddress()]
  expect(await invite(client, { email: ` ${full.toUpperCase()}`, name: ' Grace H. ' })).toEqual({
    status: 200,
    body: { link: null },
  })
  expect(await invite(client, { email: reader, is_reader: true })).toMatchObject({ status: 200 })
  const [mail] = await server.mail.waitFor(1, full)
  expect(mail).toMatchObject({ subject: 'An invitation to the desk of Unplugged.', to: [full] })
  expect(mail?.text).toContain(
    `${inviter} invites you to the desk of Unplugged. There you may do everything.`,
  )
  expect(await signInBy(mail?.link ?? '')).toEqual({
    refused: undefined,
    me: { email: full, name: 'Grace H.' },
  })
  expect(await signInBy(mail?.link ?? '')).toMatchObject({ refused: 'otp_expired' })
  const [readerMail] = await server.mail.waitFor(1, reader)
  expect(readerMail?.text).toContain('There you may read, mark and write notes.')
  expect(await signInBy(readerMail?.link ?? '')).toMatchObject({ me: { email: reader, reader: true } })
  const { data } = await client.rpc('desk_history')
  expect((data as { happenings: object[] }).happenings).toContainEqual(
    expect.objectContaining({
      author: inviter,
      kind: 'organiser',
      detail: expect.objectContaining({ organiser: reader, is_reader: true }) as object,
    }),
  )
})

test('a second invitation names the right that the first one gave', async () => {
  const { client } = await server.signedIn()
  const reader = newAddress()
  await invite(client, { email: reader, is_reader: true })
  await invite(client, { email: reader })
  const [, second] = await server.mail.waitFor(2, reader)
  expect(second?.text).toContain('There you may read, mark and write notes.')
})

test('a link of an invitation works for a day', async () => {
  const { client } = await server.signedIn()
  const email = newAddress()
  await withoutMail(async (call) => {
    const { body } = await invite(client, { email }, call)
    const { link } = body as { link: string }
    const [row] = await server.database.owner`
      select round(extract(epoch from expires_at - now()) / 3600)::int as hours from auth.one_time_tokens
      where relates_to = ${email}`
    expect(row).toEqual({ hours: 24 })
    await server.database.owner`
      update auth.one_time_tokens set expires_at = now() - interval '1 second' where relates_to = ${email}`
    expect(await signInBy(link)).toMatchObject({ refused: 'otp_expired', me: null })
    // Until somebody has signed in, another invitation makes another link, and changes nothing else.
    const again = await invite(client, { email, is_reader: true }, call)
    expect(await signInBy((again.body as { link: string }).link)).toMatchObject({ me: { email } })
    expect(await invite(client, { email }, call)).toMatchObject({
      status: 422,
      body: { message: 'This person is an organiser already.' },
    })
  })
})

// break: reader-invites
test('strangers, readers, removed organisers, and sessions without the second factor cannot invite', async () => {
  const email = newAddress()
  const [reader, removed, stranger, signedOut, withFactor] = await Promise.all(
    Array.from({ length: 5 }, () => server.signedIn()),
  )
  if (!reader || !removed || !stranger || !signedOut || !withFactor) throw new Error('nobody signed in')
  const { owner } = server.database
  await server.organiser()
  await addOrganiser(owner, reader.email, { isReader: true })
  const removedBearer = await bearerOf(removed.client)
  await removeOrganiser(owner, removed.email)
  await owner`delete from private.organisers where account_id = (select id from auth.users where email = ${stranger.email})`
  const signedOutBearer = await bearerOf(signedOut.client)
  await signedOut.client.auth.signOut({ scope: 'global' })
  await owner`
    insert into auth.mfa_factors (user_id, friendly_name, factor_type, status, secret)
    select id, '', 'totp', 'verified', 'x' from auth.users where email = ${withFactor.email}`
  const refusals = [
    ['nobody', {}, 401, 'no_authorization'],
    ['the public key', { authorization: `Bearer ${anonKey}` }, 403, 'bad_jwt'],
    ['a reader', await bearerOf(reader.client), 403, 'insufficient_rights'],
    ['a removed organiser', removedBearer, 403, 'user_not_found'],
    ['a stranger', await bearerOf(stranger.client), 403, 'insufficient_rights'],
    ['a signed-out session', signedOutBearer, 403, 'session_not_found'],
    ['a session without the second factor', await bearerOf(withFactor.client), 403, 'insufficient_rights'],
  ] as const
  for (const [who, bearer, status, code] of refusals) {
    const response = await readResponse(server.call('POST', 'invite', { email }, { ...version, ...bearer }))
    expect({ who, ...response }).toMatchObject({ who, status, body: { code } })
  }
  expect(await owner`select from auth.users where email = ${email}`).toEqual([])
})

test('what cannot be an address or a name is refused, and nobody is added', async () => {
  const { client } = await server.signedIn()
  const email = newAddress()
  for (const fields of [
    { email: 'nobody' },
    {},
    { email, name: 'ada@example.org' },
    { email, name: 'server' },
  ]) {
    expect({ fields, ...(await invite(client, fields)) }).toMatchObject({ fields, status: 400 })
  }
  expect(await server.database.owner`select from auth.users where email = ${email}`).toEqual([])
})

// break: invitations-without-limit
test('an organiser invites at most twenty people an hour', async () => {
  const { client } = await server.signedIn()
  await withoutMail(async (call) => {
    for (let count = 1; count <= 20; count += 1)
      expect(await invite(client, { email: newAddress() }, call)).toMatchObject({ status: 200 })
    expect(await invite(client, { email: newAddress() }, call)).toMatchObject({
      status: 429,
      body: { code: 'over_request_rate_limit' },
    })
  })
})

// break: earlier-token-invites
test('a token from before the second factor invites nobody', async () => {
  const { client } = await server.signedIn()
  const before = await bearerOf(client)
  const { data: factor } = await client.auth.mfa.enroll({ factorType: 'totp' })
  await client.auth.mfa.challengeAndVerify({
    factorId: factor?.id ?? '',
    code: codeOf(factor?.totp.secret ?? ''),
  })
  const inviteAs = (bearer: object) =>
    readResponse(server.call('POST', 'invite', { email: newAddress() }, { ...version, ...bearer }))
  expect(await inviteAs(before)).toMatchObject({ status: 403 })
  expect(await inviteAs(await bearerOf(client))).toMatchObject({ status: 200 })
})
