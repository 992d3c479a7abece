import { buffer } from 'node:stream/consumers'
import { afterEach, beforeAll, expect, onTestFinished } from 'vitest'

import { send } from '../support/send-application.ts'
import { startDesk, type DeskServer } from '../support/desk.ts'
import { anApplication, getForm } from '../support/form.ts'
import { olderKey, startHostedGateway, type HostedGateway } from '../support/hosted-gateway.ts'
import { startMailServer, type MailServer } from '../support/mail-server.ts'
import { serveOlderSite } from '../support/older-site.ts'
import { freePort } from '../support/ports.ts'
import { anonKey } from '../support/sign-in-server.ts'
import { test, type Visitor } from '../support/browser-test.ts'

// docs/stability.md promises that a published site works with a newer schema of its project. These tests use the site of
// 1.0.0 with an older key of a project and the current schema.
let desk: DeskServer
let mail: MailServer
let gateway: HostedGateway
/** The origin of the site of 1.0.0. */
let site: string

beforeAll(async () => {
  const port = await freePort()
  site = `http://127.0.0.1:${port}`
  mail = await startMailServer()
  desk = await startDesk({
    SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
    MAIL_FROM: 'hello@example.org',
    SITE_URL: site,
  })
  gateway = await startHostedGateway({ origin: desk.origin, key: anonKey })
  const settings = { VITE_SUPABASE_URL: gateway.origin, VITE_SUPABASE_ANON_KEY: olderKey }
  await serveOlderSite(settings, port)
  await desk.sql`update private.letter_settings set hold = '0'`
})

afterEach(() => {
  expect(gateway.refused.splice(0)).toEqual([])
})

/** Opens the desk, and signs in with an emailed code. */
async function signIn(visitor: Visitor, email: string) {
  await desk.signedIn(email)
  const page = await visitor.open(`${site}/desk/`)
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  await page.getByLabel('Email', { exact: true }).fill(email)
  await button('Send code').click()
  const [{ code } = { code: '' }] = await mail.waitFor(1, email)
  await page.getByLabel('Code', { exact: true }).fill(code)
  await button('Sign in').click()
  await page.getByRole('heading', { name: 'Applications', exact: true }).waitFor()
  return { page, button, says: (text: string) => page.getByRole('status').getByText(text).waitFor() }
}

test('on the site of 1.0.0 a person applies, is accepted, gets the letter and gives an RSVP', async ({
  visitor,
}) => {
  const application = anApplication()
  const name = `${application.first_name} ${application.last_name}`
  const applicant = await visitor.open(`${site}/`)
  await getForm(applicant).fill(application)
  await getForm(applicant).button.click()
  await getForm(applicant).success.waitFor()

  const { page, button, says } = await signIn(visitor, 'ada@example.org')
  await page.getByRole('link', { name }).click()
  await button('Accept').click()
  await says(`${name}: Accepted`)
  await page.getByLabel('Note', { exact: true }).fill('A strong one.')
  await button('Add note').click()
  await says('Note added')
  await button('Undo: 1 accepted').click()
  await says(`${name}: New`)
  await button('Accept').click()
  await says(`${name}: Accepted`)

  await page.goto(`${site}/desk/#/letters/drafts/accepted`)
  await button('Send 1 letter').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Send 1 letter' }).click()
  await says('1 letter on the way')
  const [letter] = await mail.waitFor(1, application.email)
  const [link = ''] = new RegExp(`${site}/answer/#\\S+`).exec(letter?.text ?? '') ?? []
  const answer = await visitor.open(link)
  await answer.getByRole('button', { name: 'I am coming' }).click()
  await answer.getByText('You are coming. See you there.').waitFor()

  await page.goto(`${site}/desk/#/?status=accepted`)
  await page.reload()
  await page.getByRole('row', { name }).getByText('Coming').waitFor()
  const saved = page.waitForEvent('download')
  await button('Download CSV').click()
  const table = (await buffer(await (await saved).createReadStream())).toString()
  expect(table).toContain(`${application.email},`)
  await button('Sign out').click()
  await page.getByText('You are signed out.').waitFor()
})

/** The desk's screens, each with a text that appears when all its data are shown. */
const screens = {
  places: 'Who is coming',
  letters: 'Who waits for a letter',
  'letters/templates/accepted': 'With the newest application',
  'letters/outbox/waiting': 'No letters here.',
  history: 'See you next year.',
  account: 'so that your mailbox alone lets nobody in',
}

test('on the desk of 1.0.0 an organiser closes the door, sees each screen, and is asked to reload if a call no longer exists', async ({
  visitor,
}) => {
  expect(await send(desk.origin, anApplication())).toBe(201)
  onTestFinished(async () => {
    await desk.sql`update private.door set closed = false`
  })
  const { page, button, says } = await signIn(visitor, 'bob@example.org')
  await page.goto(`${site}/desk/#/door`)
  await page.getByLabel('Closed', { exact: true }).check()
  await page.getByLabel('Sentence for applicants').fill('See you next year.')
  await button('Save').click()
  await says('Saved.')
  const applicant = await visitor.open(`${site}/`)
  await getForm(applicant).firstName.focus()
  await applicant.getByText('See you next year.').waitFor()

  for (const [path, shown] of Object.entries(screens)) {
    await page.goto(`${site}/desk/#/${path}`)
    await page.locator('#content').getByText(shown).first().waitFor()
    expect(await page.getByRole('alert').filter({ hasText: /./ }).allTextContents()).toEqual([])
  }

  // This is PostgREST's response to a call that the schema no longer has.
  visitor.allowConsoleError(/Failed to load resource/)
  const json = { code: 'PGRST202', message: 'Could not find the function in the schema cache' }
  const headers = { 'access-control-allow-origin': '*' }
  await page.route('**/rpc/desk_places', (route) => route.fulfill({ status: 404, headers, json }))
  await page.goto(`${site}/desk/#/places`)
  await page.reload()
  await page
    .getByRole('alert')
    .getByText('The desk was updated meanwhile. Please reload this page.')
    .waitFor()
})
