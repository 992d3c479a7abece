import type { SupabaseClient } from '@supabase/supabase-js'
import { TOTP } from 'otpauth'
import type { Page } from 'playwright-core'

import { getDesk } from './desk-page.ts'
import { signedInClient, type DeskServer } from './desk.ts'
import { disableBackOff } from './without-back-off.ts'

/** A screen of the sign-in, and how a person reaches it. */
interface SignInState {
  /** The hash in the desk's address. */
  hash: string
  /** The client that is already signed in, if any. */
  as?: (desk: DeskServer) => Promise<SupabaseClient>
  reachState: (page: Page) => Promise<void>
}

const alert = (page: Page) => page.getByRole('alert').filter({ hasText: /./ })
const email = (page: Page) => page.getByLabel('Email', { exact: true })
const code = (page: Page) => page.getByLabel('Code', { exact: true })
const heading = (name: string) => (page: Page) => page.getByRole('heading', { name }).waitFor()

const grace = (desk: DeskServer) => signedInClient(desk, 'grace@example.org')

/** The client of an account with a second factor, signed in without that factor. */
const withFactor = (desk: DeskServer) =>
  signedInClient(desk, 'with a factor', async () => {
    const first = await desk.signedIn('rosalind@example.org')
    const { data: factor } = await first.auth.mfa.enroll({ factorType: 'totp' })
    await first.auth.mfa.challengeAndVerify({
      factorId: factor?.id ?? '',
      code: new TOTP({ secret: factor?.totp?.secret ?? '' }).generate(),
    })
    return desk.signedIn('rosalind@example.org')
  })

/** A signed-in user who is no longer an organiser. */
const stranger = (desk: DeskServer) =>
  signedInClient(desk, 'stranger', async () => {
    const client = await desk.signedIn('mary@example.org')
    await desk.sql`
      delete from private.organisers using auth.users where account_id = users.id and email = 'mary@example.org'`
    return client
  })

/** The screens of a server that sends no emails. */
export const signInStates: Record<string, SignInState> = {
  'sign-in': { hash: '', reachState: (page) => email(page).waitFor() },
  'sign-in-no-mails': {
    hash: '',
    async reachState(page) {
      await email(page).fill('ada@example.org')
      await getDesk(page).button('Send code').click()
      await alert(page).waitFor()
    },
  },
  'sign-in-code': {
    hash: '',
    async reachState(page) {
      await page.route('**/auth/v1/otp*', (route) => route.fulfill({ json: {} }))
      await email(page).fill('nobody@example.org')
      await getDesk(page).button('Send code').click()
      await code(page).fill('123')
      await getDesk(page).button('Sign in').click()
      await alert(page).waitFor()
    },
  },
  'sign-in-password': {
    hash: '',
    async reachState(page) {
      await getDesk(page).button('Use a password').click()
      await email(page).fill('nobody@example.org')
      await page.getByLabel('Password', { exact: true }).fill('not the one')
      await getDesk(page).button('Sign in').click()
      await alert(page).waitFor()
    },
  },
  link: {
    hash: '#token_hash=0123456789abcdef&type=magiclink',
    reachState: (page) => getDesk(page).button('Sign in').waitFor(),
  },
  'link-used': {
    hash: '#token_hash=0123456789abcdef&type=magiclink',
    async reachState(page) {
      await getDesk(page).button('Sign in').click()
      await alert(page).waitFor()
    },
  },
  'link-refused': {
    hash: '#error=access_denied&error_code=otp_expired',
    reachState: (page) => alert(page).waitFor(),
  },
  'second-factor': { hash: '', as: withFactor, reachState: heading('Second factor') },
  'new-factor': {
    hash: '#/account',
    as: grace,
    async reachState(page) {
      await getDesk(page).button('Set up').click()
      await code(page).fill('1')
      await getDesk(page).button('Switch on').click()
      await alert(page).waitFor()
    },
  },
  stranger: { hash: '', as: stranger, reachState: heading('Not an organiser') },
  unreachable: {
    hash: '',
    as: grace,
    async reachState(page) {
      await disableBackOff(page)
      await page.route('**/rpc/**', (route) => route.fulfill({ status: 503, json: { code: 'PGRST000' } }))
      await page.reload()
      await heading('The desk cannot be opened now')(page)
    },
  },
}
