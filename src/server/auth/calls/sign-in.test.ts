import { beforeAll, expect, test } from 'vitest'

import { secretOf, verifyLink } from '../../../../test/support/sign-in-links.ts'
import { startSignIn, type SignInServer } from '../../../../test/support/sign-in-server.ts'

let server: SignInServer

beforeAll(async () => {
  server = await startSignIn()
})

test('the code in an email signs an organiser in to the desk', async () => {
  const email = await server.organiser()
  const client = server.client()
  expect(await client.auth.signInWithOtp({ email, options: { shouldCreateUser: false } })).toMatchObject({
    error: null,
  })
  const [mail] = await server.mail.waitFor(1, email)
  expect(mail?.subject).toContain(mail?.code)
  const { data, error } = await client.auth.verifyOtp({ email, token: mail?.code ?? '', type: 'email' })
  expect(error).toBeNull()
  expect(data.user?.email).toBe(email)
  expect(await client.rpc('desk_me')).toMatchObject({ data: { email }, error: null })
})

test("the link in an email leads to the desk, and the link's secret signs in once", async () => {
  const email = await server.organiser()
  await server.client().auth.signInWithOtp({ email })
  const [mail] = await server.mail.waitFor(1, email)
  const link = new URL(mail?.link ?? '')
  expect(`${link.origin}${link.pathname}${link.search}`).toBe(`${server.origin}/desk`)
  const client = server.client()
  const signIn = () => client.auth.verifyOtp({ token_hash: secretOf(link.href), type: 'magiclink' })
  expect((await signIn()).error).toBeNull()
  expect(await client.rpc('desk_me')).toMatchObject({ data: { email }, error: null })
  expect((await signIn()).error).toMatchObject({ code: 'otp_expired' })
})

test('GET verify redeems a link once, and redirects to the desk with a session', async () => {
  const email = await server.organiser()
  await server.client().auth.signInWithOtp({ email })
  const [mail] = await server.mail.waitFor(1, email)
  const open = () => fetch(verifyLink(mail?.link ?? ''), { redirect: 'manual' })
  const response = await open()
  expect(response.status).toBe(303)
  expect(response.headers.get('location')).toMatch(
    new RegExp(
      `^${server.origin}/desk#access_token=.*&expires_at=\\d+&expires_in=3600&refresh_token=[\\w-]+&sb=&token_type=bearer&type=magiclink$`,
    ),
  )
  expect((await open()).headers.get('location')).toContain('#error=access_denied&error_code=otp_expired')
})
