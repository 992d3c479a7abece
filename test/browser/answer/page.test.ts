import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import ICAL from 'ical.js'
import type { Page, Request, Route } from 'playwright-core'
import { beforeAll, expect } from 'vitest'

import type { Invitation } from '../../../src/client/invitation.ts'
import { storeAcceptedApplicant, rsvpsOf } from '../../support/accepted.ts'
import { contentOf, setRetreat } from '../../support/calendars.ts'
import { newToken, waitForInvitation, invitations, mockInvitations } from '../../support/answer-page.ts'
import { dataDirectory, startServer, type RunningServer } from '../../support/server.ts'
import { test, type Visitor } from '../../support/browser-test.ts'
import { connectToEmbedded } from '../../support/sql.ts'
import type { Pool } from '../../../src/server/database/connection/pool.ts'
import { settle } from '../../support/refresh.ts'

const failedRequest = /Failed to load resource/

let directory: Awaited<ReturnType<typeof dataDirectory>>
let server: RunningServer
let sql: Pool

beforeAll(async () => {
  directory = await dataDirectory()
  server = await startServer({ DATA_DIR: directory.path })
  sql = connectToEmbedded(directory.path)
})

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const shownText = async (page: Page) =>
  // Versions of Unicode's data differ in the blanks around a dash.
  (await page.locator('h1, #place > *').allInnerTexts())
    .join(' | ')
    .replaceAll(/\s*–\s*/g, '–')
    .replaceAll(/\s*\n\s*/g, ' ')
const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent)
/** Simulates the event that a window gets when it becomes active. */
const activateWindow = (page: Page) => page.evaluate(() => dispatchEvent(new Event('focus')))

function open(
  visitor: Visitor,
  { token }: { token: string },
  prepare: (page: Page) => Promise<unknown> = async () => {},
  options = {},
) {
  return visitor.open(`${server.origin}/answer/#${token}`, options, prepare)
}

/** Opens the page with a mocked server that returns this invitation for any token. */
function openWith(
  visitor: Visitor,
  invitation: (typeof invitations)[keyof typeof invitations],
  options = {},
) {
  return open(visitor, { token: newToken() }, (page) => mockInvitations(page, () => invitation), options)
}

/** The act id of a request. */
const actOf = (request: Request) => (request.postDataJSON() as { act: string }).act

test.for([
  '/answer/%23TOKEN',
  '/answer/#TOKEN.',
  '/answer/#token)',
  '/answer/#token?utm_source=x',
  '/answer/?utm_source=x#TOKEN',
  '/ANSWER/%23TOKEN%3E',
])('the invitation is found by a link that a mail program changed to %s', async (link, { visitor }) => {
  const token = newToken()
  const address = link.replace('token', token).replace('TOKEN', token.toUpperCase())
  const sent: unknown[] = []
  visitor.allowConsoleError(failedRequest)
  const page = await visitor.open(server.origin + address, {}, async (opened) => {
    opened.on('request', (request) => {
      if (request.url().endsWith('/place_by_token')) sent.push(request.postDataJSON())
    })
    await mockInvitations(opened, () => invitations.open)
  })
  await waitForInvitation(page)
  expect(sent).toEqual([{ token }])
  expect(new URL(page.url()).pathname).toBe('/answer/')
})

test('a guest reads the state of their invitation, with the same deadline in every time zone', async ({
  visitor,
}) => {
  const states: Invitation[] = [
    ...Object.values(invitations),
    { ...invitations.open, first_name: '', address: '' },
  ]
  const tokens = new Map(states.map((invitation) => [newToken(), invitation]))
  // Eleven hours behind UTC.
  const options = { timezoneId: 'Pacific/Pago_Pago' }
  const page = await visitor.open(`${server.origin}/answer/`, options, (opened) =>
    mockInvitations(opened, (token) => tokens.get(token) ?? invitations.invalid),
  )
  const incompleteLink =
    'Your place at Unplugged. | This link is incomplete. | Please open the link in the letter again, or copy the whole link.'
  expect(await shownText(page)).toBe(incompleteLink)
  const questions = 'Questions? Please write to team@example.org.'
  const webCalendars = 'Or open it in Google Calendar or Outlook.'
  const expectedTexts = [
    `Your place at Unplugged. | Hello Ada, your place is kept until 3 December 2026. | I am coming | I cannot come | ${questions}`,
    `Your place at Unplugged. 12–15 March 2027 | Hof Sonnenau, Bernau am Chiemsee | Hello Ada, your place is kept until 3 December 2026. | I am coming | I cannot come | ${questions}`,
    `See you at Unplugged. | Change my answer | ${questions}`,
    `See you at Unplugged. 12–15 March 2027 | Hof Sonnenau, Bernau am Chiemsee | Add to your calendar | ${webCalendars} | Change my answer | ${questions}`,
    `Your place at Unplugged. | You are not coming. Thank you for telling us. | Change my answer | ${questions}`,
    'Your place at Unplugged. | The deadline to answer has passed. | Please write to team@example.org.',
    'Your place at Unplugged. | The deadline to answer has passed. | Please reply to the letter by email.',
    'See you at Unplugged. | The deadline to answer has passed. | Please write to team@example.org.',
    `See you at Unplugged. 12–15 March 2027 | Add to your calendar | ${webCalendars} | The deadline to answer has passed. | Please write to team@example.org.`,
    'Your place at Unplugged. | This link is no longer valid. | Please reply to the letter by email.',
    'Your place at Unplugged. | Hello, your place is kept until 3 December 2026. | I am coming | I cannot come | Questions? Please reply to the letter by email.',
  ]
  expect(tokens.size).toBe(expectedTexts.length)
  for (const token of tokens.keys()) {
    await page.evaluate((hash) => location.assign(`#${hash}`), token)
    await expect.poll(() => shownText(page)).toBe(expectedTexts.shift())
  }
  await page.evaluate((hash) => location.assign(`#${hash}`), newToken().slice(0, -1))
  await expect.poll(() => shownText(page)).toBe(incompleteLink)
  await expect.poll(() => page.title()).toBe('Your place at Unplugged.')
})

test('a guest gives an RSVP by keyboard alone, and the focus moves to the result', async ({ visitor }) => {
  const guest = await storeAcceptedApplicant(sql)
  const page = await open(visitor, guest)
  await waitForInvitation(page)
  await page.keyboard.press('Tab')
  await expect.poll(() => focused(page)).toBe('I am coming')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await expect.poll(() => focused(page)).toBe('You are not coming. Thank you for telling us.')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Space')
  await expect.poll(() => focused(page)).toBe('Keep it')
  await page.keyboard.press('Tab')
  await expect.poll(() => focused(page)).toBe('I am coming')
  await page.keyboard.press('Space')
  await expect.poll(() => focused(page)).toMatch(/^See you at Unplugged\./)
  // `rsvpsOf` returns the newest first.
  expect(await rsvpsOf(sql, guest)).toEqual(['coming', 'not coming'])
})

test('a guest can keep an RSVP after starting to change it, and nothing is sent, by a double click or Enter twice either', async ({
  visitor,
}) => {
  const page = await openWith(visitor, invitations.coming)
  await waitForInvitation(page)
  const calls: string[] = []
  page.on('request', (request) => calls.push(request.url()))
  await button(page, 'Change my answer').dblclick()
  await button(page, 'I cannot come').waitFor()
  await button(page, 'Keep it').click()
  await button(page, 'Change my answer').press('Enter')
  await expect.poll(() => focused(page)).toBe('Keep it')
  await page.keyboard.press('Tab')
  await expect.poll(() => focused(page)).toBe('I cannot come')
  expect(await button(page, 'I am coming').count()).toBe(0)
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('Enter')
  await expect.poll(() => focused(page)).toMatch(/^See you at Unplugged\./)
  expect(await button(page, 'Keep it').count()).toBe(0)
  expect(await button(page, 'Change my answer').count()).toBe(1)
  expect(calls).toEqual([])
})

test.for([
  [390, 844],
  [1366, 650],
] as const)(
  'the whole sun fits in the window, and it sets after the RSVP "coming" (%i x %i)',
  async ([width, height], { visitor }) => {
    const guest = await storeAcceptedApplicant(sql)
    const page = await open(visitor, guest, undefined, { viewport: { width, height } })
    const sun = () =>
      page.evaluate(() => {
        const [sunBox, hills] = ['.sun', '.far'].map((part) =>
          document.querySelector(part)?.getBoundingClientRect(),
        )
        if (!sunBox || !hills) return undefined
        return {
          isWhole: sunBox.left >= 0 && sunBox.right <= window.innerWidth && sunBox.top >= 0,
          // The top of `.far` is the crest of the hills. A sun whose top is below the crest has set.
          isUp: sunBox.top < hills.top,
        }
      })
    await waitForInvitation(page)
    expect(await sun()).toEqual({ isWhole: true, isUp: true })
    await button(page, 'I am coming').click()
    await page.getByText('See you at').waitFor()
    await expect.poll(async () => (await sun())?.isUp).toBe(false)
    await button(page, 'Change my answer').click()
    await button(page, 'I cannot come').click()
    await page.getByText('You are not coming.').waitFor()
    await expect.poll(async () => (await sun())?.isUp).toBe(true)
  },
)

// break: calendar-has-link
test('a guest who is coming gets the days, the venue, and a file for their calendar', async ({ visitor }) => {
  const guest = await storeAcceptedApplicant(sql)
  const venue = 'Hof "Sonnenau"; <b>Bernau</b>, 5%\\n👩‍🚀'
  await setRetreat(sql, { starts_on: '2027-03-12', ends_on: '2027-03-15', venue, calendar_sequence: 3 })
  // Fourteen hours ahead of UTC.
  const page = await open(visitor, guest, undefined, { timezoneId: 'Pacific/Kiritimati' })
  await waitForInvitation(page)
  const link = page.getByRole('link', { name: 'Add to your calendar', exact: true })
  expect(await shownText(page)).toContain(`Your place at Unplugged. 12–15 March 2027 | ${venue} | Hello`)
  expect(await link.count()).toBe(0)
  expect(await page.getByRole('heading').count()).toBe(1)
  await button(page, 'I am coming').click()
  await expect.poll(() => focused(page)).toMatch(/^See you at Unplugged\. 12\s*–\s*15 March 2027$/)
  expect(await shownText(page)).toContain(
    `See you at Unplugged. 12–15 March 2027 | ${venue} | Add to your calendar`,
  )
  expect(await page.getByRole('heading').count()).toBe(1)
  const [download] = await Promise.all([page.waitForEvent('download'), link.press('Enter')])
  expect(download.suggestedFilename()).toBe('retreat.ics')
  const file = contentOf(download)
  const event = ICAL.Component.fromString(file).getFirstSubcomponent('vevent')
  expect(event?.getFirstPropertyValue('location')).toBe(venue)
  expect(event?.getFirstPropertyValue('sequence')).toBe(3)
  expect(String(event?.getFirstPropertyValue('dtstart'))).toBe('2027-03-12')
  expect(String(event?.getFirstPropertyValue('dtend'))).toBe('2027-03-16')
  expect(event?.getFirstPropertyValue('url')).toBe(`${server.origin}/`)
  const webLinks = page.getByRole('link', { name: /^(Google Calendar|Outlook)$/ })
  const addresses = await webLinks.evaluateAll((links) =>
    links.map((each) => [each.getAttribute('href'), each.getAttribute('target'), each.getAttribute('rel')]),
  )
  expect(addresses).toEqual(
    [/^https:\/\/calendar\.google\.com\//, /^https:\/\/outlook\.live\.com\//].map((address) => [
      expect.stringMatching(address),
      '_blank',
      'noreferrer',
    ]),
  )
  // Guests may pass the file and the links on, but neither the link of the letter nor their name.
  for (const each of [file, ...addresses.flat()]) {
    expect(each).not.toContain(guest.token)
    expect(each).not.toContain('Ada')
  }
  await page.reload()
  await link.waitFor()
  await button(page, 'Change my answer').click()
  await button(page, 'I cannot come').click()
  await page.getByText('You are not coming.').waitFor()
  await expect.poll(() => link.count()).toBe(0)
})

test('repeated presses of a button send one RSVP', async ({ visitor }) => {
  const guest = await storeAcceptedApplicant(sql)
  const heldRoutes: Route[] = []
  const page = await open(visitor, guest, (opened) =>
    opened.route('**/rpc/answer_place', (route) => void heldRoutes.push(route)),
  )
  await button(page, 'I am coming').evaluate((pressed: HTMLButtonElement) => {
    for (let press = 0; press < 3; press += 1) pressed.click()
  })
  await expect.poll(() => heldRoutes.length).toBe(1)
  expect(await button(page, 'Sending...').isDisabled()).toBe(true)
  expect(await button(page, 'I cannot come').isDisabled()).toBe(true)
  // A refresh must not overwrite a pending RSVP.
  await activateWindow(page)
  for (const route of heldRoutes) await route.continue()
  await page.getByText('See you at').waitFor()
  expect(heldRoutes).toHaveLength(1)
  expect(await rsvpsOf(sql, guest)).toEqual(['coming'])
})

// break: opening-link-answers
test('a client that opens a link, runs the page’s script and follows the page’s links gives no RSVP', async ({
  visitor,
}) => {
  // The page does not allow all request methods below, so some requests fail.
  visitor.allowConsoleError(failedRequest)
  const guest = await storeAcceptedApplicant(sql)
  const requests: string[] = []
  const listen = async (opened: Page) => {
    opened.on('request', (request) => requests.push(`${request.method()} ${new URL(request.url()).pathname}`))
  }
  const page = await open(visitor, guest, listen, { isNew: true })
  await page.waitForLoadState('networkidle')
  await button(page, 'I am coming').waitFor()
  await page.evaluate(async () => {
    for (const event of ['focus', 'online', 'pageshow', 'hashchange', 'load']) dispatchEvent(new Event(event))
    for (const method of ['GET', 'HEAD', 'OPTIONS']) await fetch(location.href, { method })
  })
  expect(await page.locator('form, a[href]:not([href^="mailto:"])').count()).toBe(0)
  await page.reload({ waitUntil: 'networkidle' })
  expect(new Set(requests)).toEqual(
    new Set(['GET /answer/', 'HEAD /answer/', 'OPTIONS /answer/', 'POST /rest/v1/rpc/place_by_token']),
  )
  expect(await rsvpsOf(sql, guest)).toEqual([])
})

test('an RSVP is retried with the same id after a lost connection, is saved once, and stays after a reload', async ({
  visitor,
}) => {
  visitor.allowConsoleError(failedRequest)
  const guest = await storeAcceptedApplicant(sql)
  const acts: string[] = []
  const page = await open(visitor, guest, (opened) =>
    opened.route('**/rpc/answer_place', async (route) => {
      acts.push(actOf(route.request()))
      await route.abort('internetdisconnected')
    }),
  )
  await page.clock.install()
  const focusedLater = async () => {
    // A call that is still pending would time out.
    await settle(page)
    await page.clock.runFor(1_000)
    return focused(page)
  }
  await button(page, 'I am coming').click()
  await expect.poll(focusedLater).toBe('Your answer may not have arrived. Please check your connection.')
  expect(acts).toHaveLength(3)
  // A refresh that fails, too, does not replace the message about the RSVP.
  await page.route('**/rpc/place_by_token', (route) => route.abort('internetdisconnected'))
  const failedRefresh = page.waitForEvent('requestfailed')
  await activateWindow(page)
  await failedRefresh
  await page.clock.runFor(20_000)
  expect(await focusedLater()).toBe('Your answer may not have arrived. Please check your connection.')
  await page.unroute('**/rpc/place_by_token')
  await page.unroute('**/rpc/answer_place')
  await page.route('**/rpc/answer_place', async (route) => {
    acts.push(actOf(route.request()))
    const response = await route.fetch()
    // The server saved the RSVP, and the response is lost.
    await (acts.length === 4 ? route.abort('connectionreset') : route.fulfill({ response: response }))
  })
  await button(page, 'Try again').click()
  await expect.poll(focusedLater).toMatch(/^See you at Unplugged\./)
  expect(acts).toHaveLength(5)
  expect(new Set(acts).size).toBe(1)
  await page.reload()
  await page.getByText('See you at').waitFor()
  await expect.poll(() => button(page, 'Try again').count()).toBe(0)
  expect(await rsvpsOf(sql, guest)).toEqual(['coming'])
})

test('if the invitation cannot be loaded, the page says so, and retries on request or after reconnecting', async ({
  visitor,
}) => {
  visitor.allowConsoleError(failedRequest)
  const guest = await storeAcceptedApplicant(sql)
  const page = await open(visitor, guest, (opened) =>
    opened.route('**/rpc/place_by_token', (route) =>
      route.fulfill({ status: 401, json: { message: 'Invalid API key' } }),
    ),
  )
  const failure = 'Your invitation could not be loaded. Please check your connection.'
  await page.getByText(failure).waitFor()
  await button(page, 'Try again').click()
  await expect.poll(() => focused(page)).toBe(failure)
  await page.unroute('**/rpc/place_by_token')
  await page.evaluate(() => dispatchEvent(new Event('online')))
  await button(page, 'I am coming').waitFor()
  await expect.poll(() => page.getByText(failure).count()).toBe(0)
})

test('an RSVP from another window appears when this window becomes active, and a restored page refreshes', async ({
  visitor,
}) => {
  const guest = await storeAcceptedApplicant(sql)
  const page = await open(visitor, guest)
  await button(page, 'I cannot come').focus()
  const other = await open(visitor, guest)
  await button(other, 'I am coming').click()
  await other.getByText('See you at').waitFor()
  await activateWindow(page)
  // The focused button no longer exists, so the focus moves to the result.
  await expect.poll(() => focused(page)).toMatch(/^See you at Unplugged\./)
  await button(page, 'Change my answer').click()
  const refresh = page.waitForResponse('**/rpc/place_by_token')
  await activateWindow(page)
  await (await refresh).finished()
  await expect.poll(() => focused(page)).toBe('Keep it')
  await sql`update private.invitations set deadline = private.today() - 1 where application_id = ${guest.id}`
  await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })))
  await page.getByText('The deadline to answer has passed.').waitFor()
  await expect.poll(() => page.getByRole('button').count()).toBe(0)
})

// break: letter-page-indexed
test('the token of a link is never in a log, a requested address, a referrer or a title', async ({
  visitor,
}) => {
  const guest = await storeAcceptedApplicant(sql)
  const requests: Request[] = []
  const listen = async (opened: Page) => opened.on('request', (request) => requests.push(request))
  const page = await open(visitor, guest, listen, { isNew: true })
  await button(page, 'I am coming').click()
  await page.getByText('See you at').waitFor()
  const unknownToken = newToken()
  await page.evaluate((hash) => location.assign(`#${hash}`), unknownToken)
  await page.getByText('no longer valid').waitFor()
  for (const request of requests) {
    const sent = JSON.stringify([request.url(), await request.allHeaders()])
    expect(sent).not.toContain(guest.token)
    expect(sent).not.toContain('referer')
  }
  await expect.poll(() => page.title()).toBe('Your place at Unplugged.')
  const { headers } = await fetch(`${server.origin}/answer`)
  expect(headers.get('x-robots-tag')).toBe('noindex')
  expect(headers.get('referrer-policy')).toBe('no-referrer')
  expect(headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; script-src 'sha256-[^ ]+'; .*connect-src 'self'; form-action 'none'/,
  )
  await server.waitForOutput(/"route":"\/answer"/)
  await server.waitForOutput(/"route":"\/rest\/v1\/rpc\/:name"/)
  const log = server.output() + (await readFile(join(directory.path, 'postgres.log'), 'utf8'))
  for (const token of [guest.token, unknownToken]) expect(log).not.toContain(token)
})

test('without JavaScript the page asks the guest to answer by email, and shows no controls', async ({
  visitor,
}) => {
  const page = await openWith(visitor, invitations.open, { javaScriptEnabled: false })
  expect((await page.locator('body').innerText()).trim().split(/\n+/)).toEqual([
    'Your place at Unplugged.',
    'This page needs JavaScript to take your answer. Please reply to the letter by email.',
  ])
})
