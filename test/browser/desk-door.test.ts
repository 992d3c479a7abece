import type { SupabaseClient } from '@supabase/supabase-js'
import type { Page } from 'playwright-core'
import { beforeAll, beforeEach, expect } from 'vitest'

import { table } from '../../src/application/application.ts'
import { signPageIn, startDesk, type DeskServer } from '../support/desk.ts'
import { focused } from '../support/desk-page.ts'
import { anApplication, getForm } from '../support/form.ts'
import { clientOf } from '../support/organiser.ts'
import { disableBackOff } from '../support/back-off.ts'
import { waitForHydration, test, type Visitor } from '../support/visitor.ts'
import { refresh } from '../support/refresh.ts'

let server: DeskServer
let ada: SupabaseClient

beforeAll(async () => {
  server = await startDesk()
  ada = await server.signedIn('ada@example.org')
})

/** Resets the data to that of a new database. */
beforeEach(async () => {
  await server.sql`truncate public.retreat_applications cascade`
  await server.sql`delete from private.history`
  await server.sql`delete from private.door`
  await server.sql`insert into private.door default values`
})

/** Opens the Door screen and returns its parts. */
async function openDoor(visitor: Visitor, client = ada) {
  const page = await visitor.open(`${server.origin}/desk#/door`, {}, signPageIn(client))
  const door = {
    page,
    state: page.locator('.door-screen .door-status'),
    announcement: page.getByRole('status'),
    sentence: page.getByLabel('Sentence for applicants'),
    closeAt: page.getByLabel('Close at'),
    closeAfter: page.getByLabel('Close after this many applications'),
    save: page.getByRole('button', { name: 'Save', exact: true }),
    close: page.getByRole('button', { name: 'Close the door' }),
    open: page.getByRole('button', { name: 'Open the door' }),
    saveAnyway: page.getByRole('button', { name: 'Save anyway' }),
    warning: page.locator('.door-screen').getByRole('alert'),
    /** Reads the texts on the History screen, then returns to the door. */
    async history() {
      await page.getByRole('link', { name: 'History' }).click()
      const events = page.locator('.history-list li')
      await events.first().waitFor()
      const texts = await events.allTextContents()
      await page.goBack()
      await page.locator('.door-screen .door-status').waitFor()
      return texts
    },
    choose: (name: 'Open' | 'Closed') => page.getByRole('radio', { name, exact: true }).check(),
  }
  await door.state.waitFor()
  return door
}

const storedCount = async () => {
  const [row] = await server.sql<[{ count: number }]>`
    select count(*)::int as count from public.retreat_applications`
  return row.count
}

const failedRequest = /Failed to load resource/
const expectState = async (page: Page, sentence: string) => {
  await expect.poll(() => page.locator('.door-screen .door-status').textContent()).toBe(sentence)
}

test('a door closed in the desk refuses applications with its sentence, keeps form answers, and can be reopened', async ({
  visitor,
}) => {
  visitor.allowConsoleError(failedRequest)
  const door = await openDoor(visitor)
  expect(await door.state.textContent()).toBe('The door is open.')
  const sentence = 'Alle Plätze sind vergeben. Bis nächstes Jahr!'
  await door.choose('Closed')
  await door.sentence.fill(sentence)
  await door.close.click()
  await expectState(door.page, `The door is closed. Applicants read: “${sentence}”`)
  expect(await door.announcement.textContent()).toBe(
    `Saved. The door is closed. Applicants read: “${sentence}”`,
  )
  await expect
    .poll(() => door.history())
    .toEqual([
      expect.stringMatching(`^Door closed: “${sentence}”ada@example.org, .* 20\\d\\d, \\d\\d:\\d\\d$`),
    ])

  const page = await visitor.open(server.origin)
  await waitForHydration(page)
  const form = getForm(page)
  const application = anApplication({ first_name: 'Grace', reason: 'To think.' })
  await form.fill(application)
  const answers = await form.answers()
  await form.button.click()
  await form.failure.waitFor()
  await page.locator('#outcome').getByText(sentence, { exact: true }).waitFor()
  expect(await form.answers()).toEqual(answers)
  expect(await storedCount()).toBe(0)

  await door.choose('Open')
  await door.open.click()
  await expectState(door.page, 'The door is open.')
  // The sentence stays for the next time that the door is closed.
  expect(await door.sentence.inputValue()).toBe(sentence)
  await form.button.click()
  await form.success.waitFor()
  expect(await server.sql`select first_name, reason from public.retreat_applications`).toEqual([
    { first_name: 'Grace', reason: 'To think.' },
  ])
  await expect.poll(() => door.history()).toHaveLength(2)

  // A long history shows the newest first, and more on request.
  await server.sql`
    insert into private.history (author, kind, detail)
    select 'ada@example.org', 'erased', '{"applications": 1}' from generate_series(1, 60)`
  await door.page.getByRole('link', { name: 'History' }).click()
  const events = door.page.locator('.history-list li')
  await expect.poll(() => events.count()).toBe(50)
  await door.page.getByRole('button', { name: 'More' }).click()
  await expect.poll(() => events.count()).toBe(62)
  // The pressed button disappears with the last page.
  await expect.poll(() => focused(door.page)).toBe('H1: History')
  expect(await events.last().textContent()).toContain('Door closed')
})

test('of two simultaneous changes the later is refused, keeps its text, and can be saved anyway', async ({
  visitor,
}) => {
  visitor.allowConsoleError(failedRequest)
  const adasDoor = await openDoor(visitor)
  const bobsDoor = await openDoor(visitor, await server.signedIn('bob@example.org'))
  await adasDoor.sentence.fill('Mine.')
  await adasDoor.choose('Closed')
  await bobsDoor.choose('Closed')
  await bobsDoor.sentence.fill('Theirs.')
  await bobsDoor.close.click()
  await expectState(bobsDoor.page, 'The door is closed. Applicants read: “Theirs.”')

  await adasDoor.close.click()
  await expect
    .poll(() => adasDoor.warning.textContent())
    .toMatch(/^bob@example.org changed the door meanwhile, .* 20\d\d, \d\d:\d\d\./)
  expect(await adasDoor.state.textContent()).toBe('The door is closed. Applicants read: “Theirs.”')
  expect(await adasDoor.sentence.inputValue()).toBe('Mine.')
  const sentences = () => server.sql`select sentence, version from private.door`
  expect(await sentences()).toEqual([{ sentence: 'Theirs.', version: 1 }])

  await adasDoor.saveAnyway.click()
  await expectState(adasDoor.page, 'The door is closed. Applicants read: “Mine.”')
  expect(await sentences()).toEqual([{ sentence: 'Mine.', version: 2 }])
  await expect.poll(() => adasDoor.warning.count()).toBe(0)
})

test('a door with a limit counts applications, closes at the limit, and stays closed when a sentence is saved', async ({
  visitor,
}) => {
  visitor.allowConsoleError(failedRequest)
  const door = await openDoor(visitor)
  const send = () => clientOf(server.origin).from(table).insert(anApplication())
  await send()
  await door.closeAfter.fill('3')
  await door.save.click()
  await expectState(door.page, 'The door is open, for 2 more applications (1 of 3 received).')
  await send()
  // The door reaches its limit before the new sentence is saved.
  await door.sentence.fill('We are full.')
  expect((await send()).status).toBe(201)
  expect(await send()).toMatchObject({ status: 403, error: { message: 'Applications are closed.' } })
  await door.save.click()
  // The failure appears at once, and the reason after the next read.
  await expect
    .poll(() => door.warning.textContent())
    .toContain(
      'The door closed automatically. Your changes are not saved. Saving now replaces the current state.',
    )
  expect(await door.state.textContent()).toBe(
    'The door is closed: it reached its limit of 3 applications. Applicants read: “Applications are closed.”',
  )
  expect(await storedCount()).toBe(3)
  await door.choose('Closed')
  await door.saveAnyway.click()
  await expectState(door.page, 'The door is closed. Applicants read: “We are full.”')
})

test("a door closes at a time in the organiser's own time zone", async ({ visitor }) => {
  const page = await visitor.open(
    `${server.origin}/desk#/door`,
    { timezoneId: 'Asia/Kathmandu' },
    signPageIn(ada),
  )
  await page.getByText(/In your own time zone, Asia\/Kath?mandu\./).waitFor()
  await page.getByLabel('Close at').fill('2999-03-01T18:00')
  await page.getByRole('button', { name: 'Save' }).click()
  await expectState(page, 'The door is open, until 1 Mar 2999, 18:00.')
  expect(await server.sql`select closes_at from private.door`).toEqual([
    { closes_at: new Date('2999-03-01T12:15Z') },
  ])
  // A past time is refused before it is sent.
  await page.getByLabel('Close at').fill('2020-03-01T18:00')
  await page.getByRole('button', { name: 'Save' }).click()
  expect(
    await page.getByLabel('Close at').evaluate((field: HTMLInputElement) => field.validity.rangeUnderflow),
  ).toBe(true)
  expect(await server.sql`select version from private.door`).toEqual([{ version: 1 }])
})

test('a failed save is not reported as saved', async ({ visitor }) => {
  visitor.allowConsoleError(failedRequest)
  const door = await openDoor(visitor)
  await door.choose('Closed')
  await disableBackOff(door.page)
  await door.page.route('**/rpc/desk_set_door', (route) => route.abort())
  await door.close.click()
  await door.warning.waitFor()
  expect(await door.warning.textContent()).toBe(
    'Not confirmed. The server could not be reached. Please check your connection.',
  )
  expect(await door.state.textContent()).toBe('The door is open.')
  expect(await door.announcement.textContent()).toBe('')
  expect(await door.page.getByRole('radio', { name: 'Closed' }).isChecked()).toBe(true)
})

test("another organiser's change appears automatically", async ({ visitor }) => {
  const door = await openDoor(visitor)
  await door.page.clock.install()
  await door.page.reload()
  await door.state.waitFor()
  await ada.rpc('desk_set_door', { version: 0, closed: true, sentence: 'Full.' })
  await refresh(door.page)
  await expectState(door.page, 'The door is closed. Applicants read: “Full.”')
  expect(await door.page.getByRole('radio', { name: 'Closed' }).isChecked()).toBe(true)
})

test('a change that was saved after its screen was left is not shown as another organiser’s', async ({
  visitor,
}) => {
  const door = await openDoor(visitor)
  await door.closeAfter.fill('100')
  await door.save.click()
  await expectState(door.page, 'The door is open, for 100 more applications (0 of 100 received).')
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  await door.page.route('**/rpc/desk_set_door', async (route) => {
    await released
    await route.continue()
  })
  // A closed door has no limit, so the limit in the form differs from what is stored.
  await door.choose('Closed')
  await door.sentence.fill('We are full. ')
  await door.close.click()
  await door.page.getByRole('link', { name: 'Letters' }).click()
  await door.page.getByRole('heading', { name: 'Letters', level: 1 }).waitFor()
  release()
  await door.announcement.getByText('Saved. The door is closed.').waitFor()
  await door.page.goBack()
  await expectState(door.page, 'The door is closed. Applicants read: “We are full.”')
  expect(await door.warning.count()).toBe(0)
  await door.sentence.fill('We are very full.')
  expect(await door.warning.count()).toBe(0)
  await door.save.click()
  await expectState(door.page, 'The door is closed. Applicants read: “We are very full.”')
})
