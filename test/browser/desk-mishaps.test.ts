import type { Page, Route } from 'playwright-core'
import { beforeEach, expect } from 'vitest'

import { operatorSecret } from '../../src/server/auth/organisers.ts'
import { hiddenName, people } from '../support/applicants.ts'
import { deskForTestFile, focused, getDesk } from '../support/desk-page.ts'
import { anApplication, getForm } from '../support/form.ts'
import { clientOf } from '../support/organiser.ts'
import { disableBackOff } from '../support/back-off.ts'
import { settle } from '../support/refresh.ts'
import { test } from '../support/visitor.ts'

const desk = deskForTestFile()

beforeEach(async () => {
  await desk.sql`delete from private.door`
  await desk.sql`insert into private.door default values`
})

/** Signs Ada in to a separate session, which a test may end. */
async function newSession() {
  const client = clientOf(desk.origin)
  const token_hash = await operatorSecret(desk.sql, desk.ada.email)
  await client.auth.verifyOtp({ type: 'magiclink', token_hash })
  return { email: desk.ada.email, client }
}

/** The address of a function of the desk. */
const addressOf = (name: string) => `**/rpc/desk_${name}`
/** Lets the server act, and loses its response. */
const loseResponse = async (route: Route) => {
  await route.fetch()
  await route.abort()
}

/** Screens, each with its address, the function that it calls, a malformed response, and its heading. */
const malformedResponses = [
  ['/?status=all', 'list', { applications: [null], letters: [], next: null }, 'Applications'],
  [
    '/applications/1',
    'application',
    { application: {}, letters: [], place: null, history: [{ kind: 'none' }] },
    'Ada Lovelace',
  ],
  ['/letters', 'letters', {}, 'Letters'],
  ['/letters/templates/accepted', 'letters', {}, 'Template: Accepted'],
  ['/letters/drafts/accepted', 'drafts', { letters: [null], next: null }, 'Drafts: Accepted'],
  ['/letters/outbox/refused', 'outbox', { letters: [null], next: null }, 'Refused letters'],
  ['/door', 'door', { is_open: true, closes_after: 3 }, 'Door'],
  ['/history', 'history', { happenings: [null], next: null }, 'History'],
] as const

test('a broken screen affects nothing else, and Try again loads it again', async ({ visitor }) => {
  visitor.allowConsoleError(/TypeError|RangeError/)
  const [application] = await desk.store([{ first_name: 'Ada', last_name: 'Lovelace' }])
  const page = await desk.open(visitor, '/account')
  const { heading, button, link } = getDesk(page)
  for (const [path, name, json, title] of malformedResponses) {
    await link('Account').click()
    await heading('Account').waitFor()
    // A screen would use the response of a pending request instead of the malformed one.
    await settle(page)
    await expect.poll(() => page.title()).toBe('Account · Unplugged.')
    await page.route(addressOf(name), (route) => route.fulfill({ json }))
    await page.evaluate((to) => (location.hash = to), path.replace('/1', `/${application?.id}`))
    await heading('This could not be shown').waitFor()
    await expect.poll(() => focused(page)).toBe('H1: This could not be shown')
    await expect.poll(() => page.title()).toBe('This could not be shown · Unplugged.')
    await button('Try again').click()
    await heading('This could not be shown').waitFor()
    await page.unroute(addressOf(name))
    await button('Try again').click()
    await heading(title).waitFor()
    await expect.poll(() => page.title()).toBe(`${title} · Unplugged.`)
  }
})

test('an unexpected failure is reported, and the button still works afterwards', async ({ visitor }) => {
  visitor.allowConsoleError(/TypeError|null/)
  const page = await desk.open(visitor, '/account')
  const { button } = getDesk(page)
  await button('Set up').waitFor()
  await page.route('**/auth/v1/user', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response: response, json: { ...(await response.json()), factors: [null] } })
  })
  await button('Set up').click()
  await page.getByText('Something went wrong. Please try again.').waitFor()
  await page.unroute('**/auth/v1/user')
  await button('Set up').click()
  await page.getByAltText(/^A QR code/).waitFor()
})

test('a stale read does not remove a newly added note from the screen', async ({ visitor }) => {
  const [application] = await desk.store([{ first_name: 'Ada', last_name: 'Lovelace' }])
  const page = await desk.open(visitor, `/applications/${application?.id}`)
  const { button, link, note, status, timeline } = getDesk(page)
  await note.waitFor()
  await link('Back').click()
  const reads: Route[] = []
  await page.route(addressOf('application'), (route) => void reads.push(route), { times: 1 })
  await link('Ada Lovelace').click()
  await expect.poll(() => reads.length).toBe(1)
  const [read] = reads
  const response = await read?.fetch()
  await note.fill('A strong one.')
  const refresh = page.waitForResponse(addressOf('application'))
  await button('Add note').click()
  await expect.poll(() => status.textContent()).toBe('Note added')
  await read?.fulfill({ ...(response && { response }) })
  await refresh
  expect(await timeline.last().textContent()).toContain('A strong one.')
})

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
  const replyTo = page.getByLabel('Replies go to')
  const fields: [() => Promise<void>, typeof note, string][] = [
    [() => link('Ada Lovelace').click(), note, 'A strong one.'],
    [() => link('Door').click(), sentence, 'We are full.'],
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
  await link('Door').click()
  await button('Save').click()
  await status.getByText('Saved. The door is open.').waitFor()
  await expect.poll(() => button('Discard').count()).toBe(0)
  // The text is also saved if the screen is left before the response.
  await sentence.fill('We are very full.')
  const request = page.waitForRequest(addressOf('set_door'))
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
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
  await link('Door').click()
  await link('History').click()
  await expect.poll(() => page.locator('.history-list li').count()).toBe(2)
  await link('Door').click()
  await expect.poll(() => valueOf(sentence)).toBe('We are very full.')
  await expect.poll(() => button('Discard').count()).toBe(0)

  // Ada signs out in another window of the same browser.
  const other = await page.context().newPage()
  await other.goto(`${desk.origin}/desk`)
  await getDesk(other).link('Door').click()
  await other.getByLabel('Sentence for applicants').fill('We are closed.')
  await getDesk(other).button('Sign out').click()
  await page.getByText('Your session has ended. Please sign in again.').waitFor()
  for (const each of [page, other])
    // Only one setting of this browser remains: the first hints were dismissed.
    expect(await each.evaluate(() => [Object.keys(sessionStorage), Object.keys(localStorage)])).toEqual([
      [],
      ['unplugged-desk-welcome'],
    ])
})

test('an announcement disappears from the page completely', async ({ visitor }) => {
  await desk.store([{ first_name: 'Ada', last_name: 'Lovelace' }])
  const page = await desk.open(visitor)
  const { link, button, status } = getDesk(page)
  await link('Ada Lovelace').click()
  await button('Shortlist').click()
  await expect.poll(() => status.textContent()).toBe('Ada Lovelace: Shortlisted')
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

test('the window’s title names the screen or the applicant, and shows a blind reader no name', async ({
  visitor,
}) => {
  await desk.store([{ first_name: 'Ada', last_name: 'Lovelace' }])
  const page = await desk.open(visitor, '', { as: await newSession() })
  const { link, button } = getDesk(page)
  const expectTitle = async (title: string) => {
    await expect.poll(() => page.title()).toBe(`${title} · Unplugged.`)
  }
  await link('Ada Lovelace').click()
  await expectTitle('Ada Lovelace')
  await link('Account').click()
  await expectTitle('Account')
  await page.getByRole('switch', { name: 'Blind reading' }).click()
  await expect.poll(() => getDesk(page).status.textContent()).toBe('Blind reading is on.')
  await link('Applications').click()
  await expectTitle('Applications')
  await page.getByRole('link', { name: hiddenName }).click()
  await page.getByRole('heading', { name: hiddenName }).waitFor()
  await expect.poll(() => page.title()).toMatch(/^Application [\da-f]{4} · Unplugged\.$/)
  await desk.ada.client.rpc('desk_set_blind', { blind: false })
  await button('Sign out').click()
  await expectTitle('Sign in')
})

test('an act that is retried after a lost response happens once, and is announced as usual', async ({
  visitor,
}) => {
  visitor.allowConsoleError(/Failed to load resource/)
  const person = { email: 'ada@example.com', first_name: 'Ada' }
  await desk.store([
    { ...person, last_name: 'L', company: 'Engines' },
    { ...person, last_name: 'B', company: 'Looms' },
  ])
  const page = await desk.open(visitor, '/door')
  const { link, button, note, status, timeline, dialog } = getDesk(page)
  const expectAnnouncement = async (words: string) => {
    await expect.poll(() => status.textContent()).toBe(words)
  }
  await disableBackOff(page)
  for (const name of ['set_door', 'set_blind', 'reveal', 'note', 'decide', 'erase'])
    await page.route(addressOf(name), loseResponse, { times: 1 })
  await page.getByLabel('Sentence for applicants').fill('Later.')
  await button('Save').click()
  await expectAnnouncement('Saved. The door is open.')
  await expect.poll(() => page.getByRole('alert').filter({ hasText: /./ }).count()).toBe(0)
  await link('Account').click()
  await page.getByRole('switch', { name: 'Blind reading' }).click()
  await expectAnnouncement('Blind reading is on.')
  await link('Applications').click()
  await page.getByRole('link', { name: hiddenName }).first().click()
  await button('Reveal').click()
  await page.getByRole('heading', { name: 'Ada L' }).waitFor()
  await note.fill('A strong one.')
  await button('Add note').click()
  await expectAnnouncement('Note added')
  expect(await timeline.filter({ hasText: 'A strong one.' }).count()).toBe(1)
  await button('Accept').click()
  await expectAnnouncement('Ada L: Accepted')
  const happened =
    await desk.sql`select kind from private.history where application_id is not null order by id`
  expect(happened.map(({ kind }) => kind as string)).toEqual(['revealed', 'note', 'status'])
  await button('Erase').click()
  await dialog.getByLabel(/^Looms, /).check()
  await dialog.getByLabel(/^Type the email/).fill('ada@example.com')
  await button('Erase for good').click()
  await expectAnnouncement('Ada L: erased, 2 applications')
  // Other events were removed with the applications.
  expect(await desk.sql`select kind, detail from private.history order by id`).toMatchObject([
    { kind: 'door' },
    { kind: 'blind' },
    { kind: 'erased', detail: { applications: 2 } },
  ])
  await desk.ada.client.rpc('desk_set_blind', { blind: false })
})

test('fifty decisions that one call could not save show one message, and are retried together', async ({
  visitor,
}) => {
  visitor.allowConsoleError(/Failed to load resource/)
  const stored = await desk.store(people(50))
  const page = await desk.open(visitor, '/?status=all')
  const { button, status, alert } = getDesk(page)
  const refuse = { code: 'XX000', message: 'The disk is full.', details: null, hint: null }
  await page.route(addressOf('decide'), (route) => route.fulfill({ status: 500, json: refuse }), { times: 1 })
  await page.getByLabel('Select all shown').check()
  await button('Decline').click()
  await expect.poll(() => status.textContent()).toBe('50 not saved')
  expect(await alert.locator('p').first().textContent()).toBe(
    'Person 1 and 49 others: “Declined” was not saved. The disk is full.',
  )
  expect(await alert.count()).toBe(1)
  await desk.setStatus(stored.slice(0, 20), 'waitlisted')
  await button('Try again').click()
  await expect.poll(() => status.textContent()).toBe('30 applications: Declined; 20 not saved')
  expect(await alert.count()).toBe(1)
  expect(await alert.textContent()).toContain('bob@example.org set them to Waitlisted meanwhile')
  await button('Leave them Waitlisted').click()
  await expect.poll(() => alert.count()).toBe(0)
  expect(await desk.sql`select status, count(*)::int from private.statuses group by 1 order by 1`).toEqual([
    { status: 'declined', count: 30 },
    { status: 'waitlisted', count: 20 },
  ])
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
