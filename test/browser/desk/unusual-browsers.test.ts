import type { Page } from 'playwright-core'
import { expect } from 'vitest'

import { deferred } from '../../support/deferred.ts'
import { operatorSecret } from '../../../src/server/auth/manage-organisers.ts'
import { people } from '../../support/applicants.ts'
import { deskForTestFile, getDesk } from '../../support/desk-page.ts'
import { anApplication, getForm } from '../../support/form.ts'
import { clientOf } from '../../support/sign-in-by-link.ts'
import { keepTranslated } from '../../support/translation.ts'
import { test } from '../../support/browser-test.ts'

const desk = deskForTestFile()

/** Signs Ada in to a separate session, which a test may end. */
async function newSession() {
  const client = clientOf(desk.origin)
  const token_hash = await operatorSecret(desk.sql, desk.ada.email)
  await client.auth.verifyOtp({ type: 'magiclink', token_hash })
  return { email: desk.ada.email, client }
}

/** The address of a function of the desk. */
const addressOf = (name: string) => `**/rpc/desk_${name}`

const forbidStorage = (page: Page) =>
  page.addInitScript(() => {
    for (const name of ['localStorage', 'sessionStorage'])
      Object.defineProperty(window, name, {
        get: () => {
          throw new DOMException('The operation is insecure.', 'SecurityError')
        },
      })
  })
const fillStorage = (page: Page) =>
  page.addInitScript(() => {
    Storage.prototype.setItem = () => {
      throw new DOMException('The quota has been exceeded.', 'QuotaExceededError')
    }
  })

test.for([
  ['forbidden', forbidStorage],
  ['full', fillStorage],
] as const)(
  'if the browser’s storage is %s, signing in works, and typed text is kept between screens',
  async ([, prepare], { visitor }) => {
    await desk.store([{ first_name: 'Ada', last_name: 'Lovelace' }])
    const token = await operatorSecret(desk.sql, desk.ada.email)
    const address = `${desk.origin}/desk#token_hash=${token}&type=magiclink`
    const page = await visitor.open(address, {}, prepare)
    const { button, link, note, status, timeline } = getDesk(page)
    await button('Sign in').click()
    await link('Ada Lovelace').click()
    await note.fill('A strong one.')
    await link('Back').click()
    await link('Ada Lovelace').click()
    expect(await note.inputValue()).toBe('A strong one.')
    await button('Add note').click()
    await expect.poll(() => status.textContent()).toBe('Note added')
    expect(await note.inputValue()).toBe('')
    expect(await timeline.last().textContent()).toContain('A strong one.')
    await button('Keys').click()
    await page.getByLabel('Use single-key shortcuts').uncheck()
    expect(await page.getByLabel('Use single-key shortcuts').isChecked()).toBe(false)
    await button('Close').click()
    await button('Sign out').click()
    await page.getByText('You are signed out.').waitFor()
  },
)

test('over http from another machine, where browsers have fewer features, the desk works completely', async ({
  visitor,
}) => {
  visitor.allowConsoleError(/Cross-Origin-Opener-Policy/)
  await desk.store(people(2))
  const insecureOrigin = 'http://unplugged.example'
  const token = await operatorSecret(desk.sql, desk.ada.email)
  const page = await visitor.open(
    `${insecureOrigin}/desk#token_hash=${token}&type=magiclink`,
    {},
    async (opened) => {
      await opened.route(`${insecureOrigin}/**`, (route) =>
        route
          .fetch({ url: route.request().url().replace(insecureOrigin, desk.origin) })
          .then((response) => route.fulfill({ response })),
      )
    },
  )
  const { button, link, note, status, pill } = getDesk(page)
  expect(await page.evaluate(() => isSecureContext)).toBe(false)
  await button('Sign in').click()
  await link('Person 1').click()
  await page.getByLabel('Go on').uncheck()
  await note.fill('A strong one.')
  await button('Add note').click()
  await expect.poll(() => status.textContent()).toBe('Note added')
  await button('Accept').click()
  await expect.poll(() => pill.textContent()).toBe('Accepted')
  await link('Back').click()
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.keyboard.press('d')
  // The list of new applications refreshes meanwhile, and may no longer contain the accepted row.
  const history = () => desk.sql`select kind, detail ->> 'status' as status from private.history order by id`
  await expect.poll(history).toEqual([
    { kind: 'note', status: null },
    { kind: 'status', status: 'accepted' },
    { kind: 'status', status: 'declined' },
  ])
  await page.evaluate(() => (location.hash = '#/letters/drafts/accepted'))
  await page.getByText('This site has no mail server yet').waitFor()
})

// break: unsent-text-kept-after-sign-out
test('typed text survives Back and a reload, and is gone after its author signs out', async ({ visitor }) => {
  visitor.allowConsoleError(/Failed to load resource/)
  await desk.store([{ first_name: 'Ada', last_name: 'Lovelace' }])
  const page = await desk.open(visitor, '', { as: await newSession() })
  const { link, button, note, status } = getDesk(page)
  const sentence = page.getByLabel('Sentence for applicants')
  const openDoor = async (opened = page) => {
    await getDesk(opened).link('Retreat').click()
    await getDesk(opened).link('Door').click()
  }
  const replyTo = page.getByLabel('Replies go to')
  const fields: [() => Promise<void>, typeof note, string][] = [
    [() => link('Ada Lovelace').click(), note, 'A strong one.'],
    [openDoor, sentence, 'We are full.'],
    [() => link('Letters').click(), replyTo, 'hello@example.org'],
  ]
  const valueOf = async (field: typeof note) => field.inputValue()
  for (const [open, field, text] of fields) {
    await link('Applications').click()
    await open()
    await field.fill(text)
    await page.goBack()
    await page.goForward()
    await expect.poll(() => valueOf(field)).toBe(text)
    await page.reload()
    await expect.poll(() => valueOf(field)).toBe(text)
  }
  await openDoor()
  await button('Save').click()
  await status.getByText('Saved. The door is open.').waitFor()
  await expect.poll(() => button('Discard').count()).toBe(0)
  // The text is also saved if the screen is left before the response.
  await sentence.fill('We are very full.')
  const request = page.waitForRequest(addressOf('set_door'))
  const { promise: released, resolve: release } = deferred()
  const happened = new Promise<void>((resolve) => {
    void page.route(addressOf('set_door'), async (route) => {
      await route.fetch()
      resolve()
      await released
      await route.abort()
    })
  })
  await button('Save').click()
  await Promise.all([request, happened])
  await link('Letters').click()
  await replyTo.waitFor()
  release()
  await link('Retreat').click()
  await link('History').click()
  await expect.poll(() => page.locator('.history-list li').count()).toBe(2)
  await openDoor()
  await expect.poll(() => valueOf(sentence)).toBe('We are very full.')
  await expect.poll(() => button('Discard').count()).toBe(0)

  // Ada signs out in another window of the same browser.
  const other = await page.context().newPage()
  await other.goto(`${desk.origin}/desk`)
  await openDoor(other)
  await other.getByLabel('Sentence for applicants').fill('We are closed.')
  await getDesk(other).button('Sign out').click()
  await page.getByText('Your session has ended. Please sign in again.').waitFor()
  for (const each of [page, other])
    // Only settings of this browser remain: the first hints were dismissed, and “Go on” was switched off.
    expect(
      await each.evaluate(() => [Object.keys(sessionStorage), Object.keys(localStorage).toSorted()]),
    ).toEqual([[], ['unplugged-desk-goes-on', 'unplugged-desk-welcome']])
})

test('a desk that a browser translates shows what is true through decisions and Undo', async ({
  visitor,
}) => {
  await desk.store(people(3))
  const page = await desk.open(visitor)
  const { link } = getDesk(page)
  const undo = page.getByRole('button', { name: /^undo/i })
  const tab = (name: string) => page.getByRole('link', { name, exact: true })
  await tab('New 3').waitFor()
  await page.evaluate(keepTranslated)
  await link('PERSON 1').click()
  await page.getByRole('heading', { name: 'PERSON 1' }).waitFor()
  await page.keyboard.press('a')
  await undo.waitFor()
  await page.keyboard.press('j')
  await page.getByRole('heading', { name: 'PERSON 2' }).waitFor()
  await link('APPLICATIONS').click()
  await tab('NEW 2').waitFor()
  await page.keyboard.press('z')
  await tab('NEW 3').waitFor()
})

test('an announcement disappears from the page completely', async ({ visitor }) => {
  await desk.store([{ first_name: 'Ada', last_name: 'Lovelace' }])
  const page = await desk.open(visitor)
  const { link, button, status } = getDesk(page)
  await link('Ada Lovelace').click()
  await page.getByLabel('Note', { exact: true }).fill('Ask her.')
  await button('Add note').click()
  await expect.poll(() => status.textContent()).toBe('Note added')
  const visiblePartCount = () =>
    page.locator('.announce-words, .announce-words *').evaluateAll(
      (parts) =>
        parts.filter((part) => {
          const { opacity, backgroundColor, color } = getComputedStyle(part)
          const paints =
            backgroundColor !== 'rgba(0, 0, 0, 0)' || (part.children.length === 0 && color !== '')
          return paints && Number(opacity) > 0
        }).length,
    )
  expect(await visiblePartCount()).toBeGreaterThan(0)
  await status.evaluate((region) =>
    region.getAnimations({ subtree: true }).forEach((animation) => animation.finish()),
  )
  expect(await visiblePartCount()).toBe(0)
})

test.for([
  ['forbidden', forbidStorage],
  ['full', fillStorage],
] as const)(
  'if the browser’s storage is %s, the application form can be filled and sent',
  async ([, prepare], { visitor }) => {
    const page = await visitor.open(desk.origin, {}, prepare)
    const form = getForm(page)
    const application = anApplication({ paid_solution: 'custom', custom_solution: 'A cabin' })
    await form.fill(application)
    await form.button.click()
    await form.success.waitFor()
    expect(await desk.sql`select reason, custom_solution, consent from public.retreat_applications`).toEqual([
      { reason: application.reason, custom_solution: 'A cabin', consent: true },
    ])
  },
)
