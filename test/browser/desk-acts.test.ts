import type { Page, Route } from 'playwright-core'
import { beforeAll, expect } from 'vitest'

import { deskForTestFile, focused, getDesk } from '../support/desk-page.ts'
import { removeEditions } from '../support/editions.ts'
import { extent, seed } from '../support/extent.ts'
import { releaseDrafts, rememberTemplates, storeLetter } from '../support/letters.ts'
import { randomFrom } from '../support/random.ts'
import { refresh } from '../support/refresh.ts'
import { test } from '../support/visitor.ts'
import { actCases, type ActCase } from '../support/act-cases.ts'
import { resize } from '../support/resize.ts'

/** How the call of an act ends. */
const outcomes = ['offline', 'slow', 'refused', 'aborted', 'response lost'] as const
/** How the screen of the act is opened. */
const openings = ['by its address', 'from the list', 'by Back'] as const
const presses = ['once', 'twice'] as const

interface Combination {
  outcome: (typeof outcomes)[number]
  opening: (typeof openings)[number]
  press: (typeof presses)[number]
}

const combinations: Combination[] = outcomes.flatMap((outcome) =>
  openings.flatMap((opening) => presses.map((press) => ({ outcome, opening, press }))),
)
const desk = deskForTestFile()
let restoreTemplates: () => Promise<void>
beforeAll(async () => {
  restoreTemplates = await rememberTemplates(desk.sql)
})

/** Resets the data to one accepted applicant, who was told and has a draft. The history is empty. */
async function prepareData({ prepare }: ActCase) {
  await restoreTemplates()
  await desk.sql`delete from public.retreat_applications`
  await desk.sql`delete from private.door`
  await desk.sql`insert into private.door default values`
  await desk.sql`delete from private.places`
  await desk.sql`insert into private.places (zone) values ('UTC')`
  await desk.sql`delete from private.questions`
  await removeEditions(desk.sql)
  await desk.sql`update private.editions set starts_on = null, ends_on = null, venue = '', questions_version = 0, private_days = null, name = ''`
  await desk.sql`delete from private.deliveries`
  await desk.sql`update private.letter_settings set receipts = false, reply_to = ''`
  await desk.sql`update private.organisers set notices = 'off', blind = false, reads_only = false`
  await desk.sql`update private.retention set version = 0, months = null, months_for_guests = null`
  await desk.sql`
    update private.postman set stopped = false, seen_at = now() + interval '1 hour', check_wanted_at = '-infinity',
      checked_at = '-infinity'`
  const [stored] = await desk.store([{ first_name: 'Ada', last_name: 'Lovelace', email: 'ada@example.com' }])
  await desk.setStatus(stored ? [stored] : [], 'accepted')
  await desk.sql`update private.invitations set told_at = now(), deadline = private.today() + 10`
  await desk.sql`delete from private.history`
  await prepare?.(desk.sql)
  return stored?.id ?? ''
}

/**
 * Opens a screen without cached reads or typed text.
 *
 * @param open Opens a new page if there is no `previousPage` to reuse.
 */
async function goToScreen(
  open: (path: string) => Promise<Page>,
  previousPage: Page | undefined,
  path: string,
  opening: Combination['opening'],
) {
  const first = opening === 'from the list' ? '/' : path
  const page = previousPage ?? (await open(first))
  const { heading } = getDesk(page)
  const to = (address: string) => page.evaluate((hash) => (location.hash = hash), address)
  if (previousPage) {
    await page.evaluate(() => sessionStorage.clear())
    await to(first)
    await page.reload()
  }
  if (opening === 'from the list') {
    await heading('Applications').waitFor()
    await to(path)
  } else if (opening === 'by Back') {
    await page.locator('h1').waitFor()
    await to('/history')
    await heading('History').waitFor()
    await page.goBack()
  }
  return page
}

/** Holds all further calls of the page, except those of one function. */
async function holdOtherCalls(page: Page, name = '') {
  const heldRoutes: Route[] = []
  await page.route('**/rpc/*', async (route) => {
    if (route.request().url().endsWith(`/${name}`)) await route.fallback()
    else heldRoutes.push(route)
  })
  return async () => {
    await page.unroute('**/rpc/*')
    // The page may have aborted some of these calls.
    await Promise.allSettled(heldRoutes.map((route) => route.continue()))
  }
}

/** Makes the calls of a function end with this outcome, and holds all other calls. Only the first response is lost. */
async function setOutcome(page: Page, name: string, outcome: Combination['outcome']) {
  let tries = 0
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  await page.route(`**/rpc/${name}`, async (route) => {
    tries += 1
    if (outcome === 'aborted') return route.abort()
    if (outcome === 'refused')
      return route.fulfill({
        status: 500,
        json: { code: 'XX000', message: 'boom', details: null, hint: null },
      })
    if (outcome === 'slow') await released
    if (outcome !== 'response lost' || tries > 1) return route.continue()
    await route.fetch()
    return route.abort()
  })
  const releaseOtherCalls = await holdOtherCalls(page, name)
  return {
    tries: () => tries,
    release,
    async end() {
      await releaseOtherCalls()
      await page.unroute(`**/rpc/${name}`)
    },
  }
}

const countOf = async ({ query }: ActCase) => (await desk.sql.unsafe(query)).length

/** @param goTo Goes to the address of a screen. */
async function runAct(
  goTo: (path: string) => Promise<Page>,
  name: string,
  actCase: ActCase,
  { outcome, press }: Combination,
) {
  const id = await prepareData(actCase)
  const page = await goTo(actCase.path.replace(':id', id))
  await actCase.openPart?.(page)
  const field = actCase.input && page.getByLabel(actCase.input[0], { exact: true })
  await field?.fill(actCase.input?.[1] ?? '')
  const button = actCase.button(page)
  // Waits for the screen's data.
  await button.click({ trial: true })
  const announcement = page.locator('.announce-words')
  const call = await setOutcome(page, name, outcome)
  if (outcome === 'offline') await page.context().setOffline(true)
  await (press === 'once' ? button.click() : button.dblclick())

  if (outcome === 'slow') {
    const { pill } = getDesk(page)
    await (
      actCase.isQueued ? pill.getByText('(saving)') : announcement.getByText('Waiting for the server…')
    ).waitFor()
    call.release()
  }
  const failure = {
    offline: `${actCase.failure} You were offline.`,
    refused: `${actCase.failure} boom`,
    aborted: `${actCase.unconfirmed ?? 'Not confirmed.'} The server could not be reached. Please check your connection.`,
    slow: undefined,
    'response lost': undefined,
  }[outcome]
  // The announcement must not wait for a refresh.
  if (failure === undefined) {
    await expect.poll(() => countOf(actCase)).toBe(1)
    if (actCase.announcement !== '') await announcement.getByText(actCase.announcement).waitFor()
    await expect.poll(call.tries).toBe(outcome === 'slow' ? 1 : 2)
  } else {
    await page.getByRole('alert').getByText(failure, { exact: true }).waitFor()
    if (actCase.input) expect(await field?.inputValue()).toBe(actCase.input[1])
    if (outcome === 'aborted') expect(call.tries()).toBe(actCase.isQueued ? 5 : 2)
  }
  await expect.poll(() => page.locator('button[aria-busy], input[aria-busy]').count()).toBe(0)

  // The act must not be sent again later.
  const tries = call.tries()
  await page.context().setOffline(false)
  await call.end()
  await page.evaluate(() => (location.hash = '/history'))
  await getDesk(page).heading('History').waitFor()
  await page.locator('.history-list, .desk-frame :text("No changes yet")').first().waitFor()
  expect(call.tries()).toBe(tries)
  expect(await countOf(actCase)).toBe(failure === undefined ? 1 : 0)
}

test.for(Object.entries(actCases))(
  '%s announces its result at once, and is stored once, or never if it fails',
  async ([name, actCase], { visitor }) => {
    visitor.allowConsoleError(/Failed to load resource/)
    const open = (path: string) =>
      desk.open(visitor, path, {
        prepare: (opened) =>
          // There is no mail program to open.
          opened.addInitScript(() => (HTMLAnchorElement.prototype.click = () => {})),
      })
    let page: Page | undefined
    const random = randomFrom(seed + Object.keys(actCases).indexOf(name))
    // `npm test` tries one combination for each act.
    const sample = combinations[Math.floor(random() * combinations.length)]
    for (const combination of extent({ quick: [sample], long: combinations })) {
      if (combination === undefined) continue
      try {
        await runAct(
          async (path) => (page = await goToScreen(open, page, path, combination.opening)),
          name,
          actCase,
          combination,
        )
      } catch (error) {
        throw new Error(
          `${combination.outcome}, opened ${combination.opening}, pressed ${combination.press}`,
          { cause: error },
        )
      }
    }
  },
)

const withoutPreparation = { ...actCases.desk_note, prepare: async () => {} }

test('a saved draft is shown and can be edited before the screen refreshes', async ({ visitor }) => {
  await prepareData(withoutPreparation)
  const page = await desk.open(visitor, '/letters/drafts/accepted')
  const { button, status } = getDesk(page)
  const subject = page.getByLabel('Subject', { exact: true })
  await button('Edit: Ada Lovelace').click()
  const releaseCalls = await holdOtherCalls(page, 'desk_edit')
  for (const words of ['Come', 'Come soon']) {
    await subject.fill(words)
    await button('Save').click()
    await page.locator('.drafts-draft .letters-subject').getByText(words, { exact: true }).waitFor()
    await expect.poll(() => status.textContent()).toBe('Ada Lovelace: changed')
    await button('Edit: Ada Lovelace').click()
    expect(await subject.inputValue()).toBe(words)
  }
  await releaseCalls()
  expect(await desk.sql`select from private.letters where subject = 'Come soon'`).toHaveLength(1)
})

test('an RSVP appears with its announcement, before the screen refreshes', async ({ visitor }) => {
  const id = await prepareData(withoutPreparation)
  const page = await desk.open(visitor, `/applications/${id}`)
  const { button, status } = getDesk(page)
  await button('Coming').waitFor()
  const releaseCalls = await holdOtherCalls(page, 'desk_set_answer')
  await button('Coming').click()
  await expect.poll(() => status.textContent()).toBe('Ada Lovelace: Coming')
  await page
    .locator('.application-head .decisions-answer')
    .getByText(/^Coming, answered/)
    .waitFor()
  expect(await button('Coming').getAttribute('aria-pressed')).toBe('true')
  await releaseCalls()
})

test('stopping all letters hides their countdown, and resuming gives them a new minute', async ({
  visitor,
}) => {
  await prepareData({ ...withoutPreparation, prepare: (sql) => releaseDrafts(sql, { dueIn: 3_600 }) })
  const page = await desk.open(visitor, '/letters')
  const other = await desk.open(visitor, '/letters', {
    as: desk.bob,
    prepare: (opened) => opened.clock.install(),
  })
  const { button, status } = getDesk(page)
  await button('Stop 1 letter').waitFor()
  const releaseCalls = await holdOtherCalls(page, 'desk_stop')
  await button('Stop all letters').click()
  await button('Stop 1 letter').waitFor({ state: 'detached' })
  await releaseCalls()
  await refresh(other)
  await getDesk(other).button('Send the stopped letter').waitFor()
  expect(await getDesk(other).button('Stop 1 letter').count()).toBe(0)
  await button('Send the stopped letter').click()
  await status.getByText('1 letter will be sent in 1:00.').waitFor()
  await page
    .locator('.letters-leaving')
    .getByText(/^1 letter will be sent in (1:00|0:\d\d)\.$/)
    .waitFor()
  expect(await desk.sql`select from private.deliveries where due_at > now() + interval '1 minute'`).toEqual(
    [],
  )
})

test('saving an unchanged form does not overwrite another organiser’s changes', async ({ visitor }) => {
  visitor.allowConsoleError(/Failed to load resource/)
  await prepareData(withoutPreparation)
  const page = await desk.open(visitor, '/door')
  const { button } = getDesk(page)
  const sentence = page.getByLabel('Sentence for applicants')
  await sentence.waitFor()
  const door = { version: 0, closed: false, closes_at: null, closes_after: null }
  await desk.bob.client.rpc('desk_set_door', { ...door, sentence: 'By Bob.' }).throwOnError()
  await button('Save').click()
  await expect.poll(() => sentence.inputValue()).toBe('By Bob.')
  await button('Save').waitFor()
  expect(await button('Save anyway').count()).toBe(0)
})

test('an accepted applicant’s draft can be read and sent on the application’s screen', async ({
  visitor,
}) => {
  const id = await prepareData(withoutPreparation)
  const page = await desk.open(visitor, `/applications/${id}`)
  const { button, dialog, status } = getDesk(page)
  await page.getByRole('heading', { name: 'Draft: Accepted' }).waitFor()
  await button('Send 1 letter').click()
  await dialog.getByRole('button', { name: 'Send 1 letter' }).click()
  await expect.poll(() => status.textContent()).toBe('1 letter on the way')
  await button('Stop 1 letter').waitFor()
  await expect.poll(() => focused(page)).not.toContain('BODY')
})

test('Esc leaves the note field and keeps its text, a key adds the note, and the focus is never lost', async ({
  visitor,
}) => {
  const id = await prepareData(withoutPreparation)
  const page = await desk.open(visitor, `/applications/${id}`)
  const { button, note, status } = getDesk(page)
  await note.fill('A strong one.')
  await note.press('Escape')
  expect(await focused(page)).toBe('H1: Ada Lovelace')
  await page.keyboard.press('n')
  expect(await note.inputValue()).toBe('A strong one.')
  await note.press('Control+Enter')
  await expect.poll(() => status.textContent()).toBe('Note added')
  await expect.poll(() => focused(page)).toBe('H1: Ada Lovelace')
  await note.fill('Another one.')
  await button('Add note').focus()
  await page.keyboard.press('Enter')
  await expect.poll(() => note.inputValue()).toBe('')
  expect(await focused(page)).toBe('BUTTON: Add note')

  await page.evaluate(() => (location.hash = '/letters/drafts/accepted'))
  await button('Send 1 letter').click()
  await getDesk(page).dialog.getByRole('button', { name: 'Send 1 letter' }).click()
  await page.getByText('No drafts here.').waitFor()
  await expect.poll(() => focused(page)).toBe('H1: Drafts: Accepted')
})

interface DisappearingButton {
  name: string
  path: string
  /** Makes it appear. */
  show: (page: Page) => Promise<unknown>
  /** The focus after it was pressed. */
  focus: string
}

const disappearing: DisappearingButton[] = [
  {
    name: 'Discard',
    path: '/door',
    show: (page) => page.getByLabel('Sentence for applicants').fill('Full.'),
    focus: 'H1: Door',
  },
  {
    name: 'Save',
    path: '/applications/1',
    async show(page) {
      await page.locator('.application-marks').getByRole('button', { name: 'Yes' }).click()
      await page.locator('.application-own-mark').waitFor({ state: 'attached' })
      await page.getByLabel('Why, in a line').fill('Warm.')
    },
    focus: 'H1: Ada Lovelace',
  },
  {
    name: 'Draft again',
    path: '/applications/1',
    show: (page) => getDesk(page).button('Draft from template').click(),
    focus: 'H1: Ada Lovelace',
  },
  {
    name: 'Cancel',
    path: '/letters/outbox/refused',
    show: (page) => getDesk(page).button('Send to another address: Ada Lovelace').click(),
    focus: 'BUTTON: Send to another address: Ada Lovelace',
  },
]

test.for(disappearing)(
  '$name disappears when it is pressed, and the focus is on the heading or on the button that opened its form',
  async ({ name, path, show, focus }, { visitor }) => {
    const id = await prepareData(withoutPreparation)
    await releaseDrafts(desk.sql, { state: 'done' }, id)
    await storeLetter(desk.sql, id, { template: 'Travel', state: 'failed', isRefused: true })
    const page = await desk.open(visitor, path.replace('/1', `/${id}`))
    await show(page)
    await getDesk(page).button(name).first().press('Enter')
    await expect.poll(() => focused(page)).toBe(focus)
  },
)

test('the result of an act appears in the lower half of the window, above the bar at the foot', async ({
  visitor,
}) => {
  const id = await prepareData(withoutPreparation)
  const page = await desk.open(visitor, `/applications/${id}`)
  const { note, status } = getDesk(page)
  for (const size of [
    { width: 390, height: 844 },
    { width: 1366, height: 650 },
  ]) {
    await resize(page, size)
    await note.fill(`At ${size.width}`)
    await note.press('Control+Enter')
    await page.locator('.application-note', { hasText: `At ${size.width}` }).waitFor()
    await expect.poll(() => status.textContent()).toBe('Note added')
    const [announcement, foot] = await page.evaluate(() =>
      ['.announce-words span', '.decisions-bar'].map((each) =>
        document.querySelector(each)?.getBoundingClientRect().toJSON(),
      ),
    )
    expect(announcement.bottom).toBeLessThanOrEqual(foot.top)
    expect(announcement.top).toBeGreaterThan(size.height / 2)
    await status.evaluate((live) =>
      live.getAnimations({ subtree: true }).forEach((animation) => animation.finish()),
    )
  }
})
