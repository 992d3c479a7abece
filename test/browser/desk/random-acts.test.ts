import * as fc from 'fast-check'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

import { statuses, type Status } from '../../../src/application/statuses.ts'
import { actOf, playRandomActs } from '../../support/random-acts.ts'
import { deskForTestFile, getDesk } from '../../support/desk-page.ts'
import { removeEditions } from '../../support/editions.ts'
import { extent } from '../../support/quick-or-long.ts'
import { clientOf } from '../../support/sign-in-by-link.ts'
import { refresh } from '../../support/refresh.ts'
import { test, type Visitor } from '../../support/browser-test.ts'

/** The largest number of acts in a sequence: `HOUR_ACTS=3000 SEED=7 npm run test:slow -- desk-hour`. */
const maxActs = Number(process.env['HOUR_ACTS'] ?? 120)
const sequences = extent({ quick: 1, long: 20 })

const desk = deskForTestFile()
const failedRequest = /Failed to load resource/
const allStatuses = Object.keys(statuses) as Status[]
const labels: Record<Status, string> = {
  new: 'Reset to New',
  shortlisted: 'Shortlist',
  accepted: 'Accept',
  waitlisted: 'Waitlist',
  declined: 'Decline',
  aside: 'Put aside',
}

const markLabels = { yes: 'Yes', maybe: 'Maybe', no: 'No' }

/** An organiser at a screen. */
interface OrganiserScreen {
  email: string
  page: Page
  /** The status of the open list, or null on another screen. */
  list: Status | null
  search: string
  /** The id of the open application. */
  application: string | null
  /** The number of screens that Back leads through. */
  depth: number
}

interface DeskModel {
  screens: OrganiserScreen[]
  /** The id of the last history entry that was checked. */
  lastChecked: string
}

interface Row {
  id: string
  name: string
  status: Status
  /** Whether it belongs to the newest retreat, whose applications the lists show. */
  is_newest: boolean
  is_withdrawn: boolean
}

/** All applications in the database, the newest first. */
async function rowsInDatabase(): Promise<Row[]> {
  return desk.sql<Row[]>`
    select id, first_name || ' ' || last_name as name, coalesce(status, 'new') as status,
      application.edition = (select max(id) from private.editions) as is_newest, withdrawn_at is not null as is_withdrawn
    from public.retreat_applications as application left join private.statuses on application_id = id
    order by application.created_at desc, id desc`
}

/** Whether the other organiser erased the open application. */
async function isErased({ application }: OrganiserScreen) {
  return application !== null && !(await rowsInDatabase()).some(({ id }) => id === application)
}

interface HistoryEntry {
  id: string
  application_id: string
  author: string
  status: Status | null
}

/** The decisions in the history after the entry with this id. */
async function historySince(id: string): Promise<HistoryEntry[]> {
  return desk.sql<HistoryEntry[]>`
    select id, application_id, author, detail ->> 'status' as status from private.history
    where id > ${id} and kind = 'status' order by id`
}

async function lettersInDatabase() {
  return desk.sql<
    { id: string; application_id: string; occasion: string; state: string; is_edited: boolean }[]
  >`
    select letter_id as id, application_id, occasion, state, false as is_edited from private.letter_deliveries
      where state <> 'withdrawn' and is_main
    union all select id, application_id, coalesce(template, ''), state, subject is not null from private.letters where state = 'draft'
    order by id`
}

/** Moves the page's clock forward by half a minute, so that it refreshes. */
async function waitForRefresh({ page }: OrganiserScreen) {
  await refresh(page)
}

/** The word that a row and the open application show. */
const wordOf = ({ status, is_withdrawn: isWithdrawn }: Pick<Row, 'status' | 'is_withdrawn'>) =>
  isWithdrawn ? 'Withdrawn' : statuses[status]

function listOf(rows: readonly Row[], { list, search }: OrganiserScreen) {
  return rows.filter(
    ({ name, status, is_newest: isNewest, is_withdrawn: isWithdrawn }) =>
      isNewest &&
      status === list &&
      // Withdrawn applications are only in the lists of all and of those that were put aside.
      (!isWithdrawn || status === 'aside') &&
      name.toLowerCase().includes(search.toLowerCase()),
  )
}

/** Expects a list that was just opened, and the numbers on its tabs, to match the database. */
async function expectFreshList(screen: OrganiserScreen) {
  const { names: shown } = getDesk(screen.page)
  await expect.poll(shown).toEqual(listOf(await rowsInDatabase(), screen).map(({ name }) => name))
  await expectShownList(screen)
}

/**
 * Expects an open list to show each row's current status, a notice with the number of rows that it lacks, and the right
 * numbers on its tabs.
 */
async function expectShownList(screen: OrganiserScreen) {
  const { names: shownNames, tabs } = getDesk(screen.page)
  const rows = await rowsInDatabase()
  const byName = new Map(rows.map((row) => [row.name, row]))
  const pills = async () => {
    const shown = await shownNames()
    const texts = await screen.page.locator('tbody .decisions-pill').allTextContents()
    return Object.fromEntries(shown.map((name, index) => [name, texts[index]]))
  }
  const expectedStatus = (name: string) => {
    const row = byName.get(name)
    if (row === undefined) return 'Erased'
    // The list of the previous retreat disappears when the next retreat begins.
    return row.is_newest ? wordOf(row) : undefined
  }
  await expect
    .poll(async () => {
      const shown = await pills()
      return Object.entries(shown).filter(([name, text]) => text !== expectedStatus(name))
    })
    .toEqual([])
  const noticeCount = async () => {
    const [text = ''] = await screen.page.locator('.list-news').allTextContents()
    return [...text.matchAll(/\d+/g)].reduce((sum, [number]) => sum + Number(number), 0)
  }
  await expect
    .poll(async () => {
      const shown = await shownNames()
      const missing = listOf(rows, screen).filter(({ name }) => !shown.includes(name))
      return (await noticeCount()) - missing.length
    })
    .toBe(0)
  const countOf = (status: Status) => listOf(rows, { ...screen, list: status }).length
  // The tab Put aside is there only while it is open, or has applications.
  const shownStatuses = allStatuses.filter(
    (status) => status !== 'aside' || screen.list === 'aside' || countOf('aside') > 0,
  )
  await expect
    .poll(async () => (await tabs()).slice(0, -1))
    .toEqual(shownStatuses.map((status) => `${statuses[status]} ${countOf(status)}`))
}

/** Expects an open application to show its status and each decision once, or that it was erased. */
async function expectApplication(screen: OrganiserScreen) {
  const { page, application } = screen
  if (await isErased(screen)) {
    await page.getByText('There is no such application: it may have been erased.').waitFor()
    return
  }
  const { pill, timeline } = getDesk(page)
  const id = application ?? ''
  const row = (await rowsInDatabase()).find((each) => each.id === id)
  await expect.poll(() => pill.textContent()).toBe(row && wordOf(row))
  const [{ count } = { count: 0 }] = await desk.sql<{ count: number }[]>`
    select count(*)::int from private.history where application_id = ${id} and kind = 'status'`
  await expect.poll(() => timeline.filter({ hasText: '(was ' }).count()).toBe(count)
}

/** Expects the new entries of the history to be exactly the intended decisions, by this organiser. */
async function expectHistory(
  model: DeskModel,
  screen: OrganiserScreen,
  intended: readonly string[],
  statusOfDecision: (id: string) => Status | null,
) {
  const newDecisions = await historySince(model.lastChecked)
  model.lastChecked = newDecisions.at(-1)?.id ?? model.lastChecked
  expect(
    newDecisions.map(({ application_id: id, author, status }) => ({ id, author, status })).toSorted(byId),
  ).toEqual(intended.map((id) => ({ id, author: screen.email, status: statusOfDecision(id) })).toSorted(byId))
}
const expectNoDecision = async (model: DeskModel, screen: OrganiserScreen) =>
  expectHistory(model, screen, [], () => null)

/** Presses, and returns the announcement that follows. Ignores announcements of the other organiser's acts. */
async function announcementAfter({ page }: OrganiserScreen, press: () => Promise<unknown>) {
  await page.evaluate(() => {
    Object.assign(window, { heard: '' })
    // An open dialog has a live region of its own.
    new MutationObserver((changes, observer) => {
      for (const { target } of changes) {
        const text = (target instanceof Element ? target : target.parentElement)?.closest(
          '[role=status]',
        )?.textContent
        if (!text || / (changed this just now|changed meanwhile)$/.test(text)) continue
        observer.disconnect()
        Object.assign(window, { heard: text })
        return
      }
    }).observe(document.body, {
      childList: true,
      subtree: true,
      characterData: true,
    })
  })
  await press()
  const heard = await page.waitForFunction(() => Reflect.get(window, 'heard') as string)
  return heard.jsonValue()
}

async function openList(screen: OrganiserScreen, status: Status) {
  const { tab, link } = getDesk(screen.page)
  const isOpened = status !== screen.list
  if (screen.list === null) {
    await link('Applications').click()
    screen.list = 'new'
    screen.search = ''
    screen.application = null
    screen.depth += 1
  }
  if (status !== screen.list) screen.depth += 1
  await tab(statuses[status]).click()
  screen.list = status
  if (isOpened) return expectFreshList(screen)
  // A click on the open tab opens nothing, and the rows keep their positions.
  await waitForRefresh(screen)
  await expectShownList(screen)
}

interface ActDefinition<Choices> {
  /** Whether readers may do it, too. */
  isReading?: boolean
  /** Whether the screen allows the act. */
  can?: (screen: Readonly<OrganiserScreen>) => boolean
  do: (model: DeskModel, screen: OrganiserScreen, choices: Choices) => Promise<unknown>
}

/** An act of one of two organisers or, if it only reads or marks, of a reader. */
function deskAct<Choices extends unknown[]>(
  name: string,
  choices: { [Index in keyof Choices]: fc.Arbitrary<Choices[Index]> },
  { isReading = false, can = () => true, do: run }: ActDefinition<NoInfer<Choices>>,
) {
  const screenOf = ({ screens }: Readonly<DeskModel>, organiser: number) => nth(screens, organiser)
  return actOf<DeskModel, [number, Choices]>(
    name,
    [fc.nat(isReading ? 2 : 1), fc.tuple<Choices>(...choices)],
    {
      can: (model, [organiser]) => can(screenOf(model, organiser)),
      async do(model, [organiser, actChoices]) {
        const screen = screenOf(model, organiser)
        const address = new URL(screen.page.url()).hash
        try {
          // If the other organiser erased the open application, its screen cannot be used further.
          if (await isErased(screen)) {
            await openList(screen, 'new')
            if (!can(screen)) return
          }
          await run(model, screen, actChoices)
        } catch (error) {
          throw new Error(`${name} by ${screen.email} at ${address}`, { cause: error })
        }
      },
    },
  )
}

function nth<Item>(items: readonly Item[], index: number): Item {
  const item = items[index % items.length]
  if (item === undefined) throw new Error('There is nothing to choose from.')
  return item
}

const anyStatus = fc.constantFrom(...allStatuses)
const anyDecision = fc.constantFrom('accepted' as const, 'waitlisted' as const, 'declined' as const)
const anyIndex = fc.nat(11)
/** True in three of ten cases. */
const seldom = fc.nat(9).map((tenth) => tenth > 6)
const isAtList = ({ list }: Readonly<OrganiserScreen>) => list !== null
const isAtApplication = ({ application }: Readonly<OrganiserScreen>) => application !== null
const hasBack = ({ depth }: Readonly<OrganiserScreen>) => depth > 0

const acts = {
  tab: deskAct('tab', [anyStatus], {
    isReading: true,
    async do(model, screen, [wanted]) {
      const isEmpty = listOf(await rowsInDatabase(), { ...screen, list: wanted }).length === 0
      if (wanted === 'aside' && isEmpty) return
      if (screen.list !== null) await waitForRefresh(screen)
      await openList(screen, wanted)
      await expectNoDecision(model, screen)
    },
  }),

  mark: deskAct('mark', [fc.constantFrom('yes', 'maybe', 'no', null)], {
    isReading: true,
    can: isAtApplication,
    async do(model, screen, [wanted]) {
      const { page } = screen
      const id = screen.application ?? ''
      const region = page.getByRole('region', { name: 'Your mark' })
      const marks = await desk.sql<{ author: string; mark: keyof typeof markLabels }[]>`
        select author, mark from private.marks where application_id = ${id} and mark is not null`
      const ownMark = marks.find(({ author }) => author === screen.email)?.mark ?? null
      await expect
        .poll(() => region.getByRole('button', { pressed: true }).allTextContents())
        .toEqual(ownMark === null ? [] : [markLabels[ownMark]])
      if (wanted === ownMark) return
      const pressed = markLabels[wanted ?? ownMark ?? 'yes']
      const words = await announcementAfter(screen, () =>
        region.getByRole('button', { name: pressed, exact: true }).click(),
      )
      expect(words).toMatch(
        wanted === null ? /: no mark$/ : new RegExp(`: your mark is ${markLabels[wanted]}$`),
      )
      const [stored] = await desk.sql<{ mark: string | null }[]>`
        select mark from private.marks where application_id = ${id} and author = ${screen.email}`
      expect(stored?.mark).toBe(wanted)
      // Marks of others are shown once the organiser has a mark too, or after a decision.
      const isDecided = ['accepted', 'waitlisted', 'declined'].includes(await desk.statusOf(id))
      const otherAuthors = marks.filter(({ author }) => author !== screen.email).map(({ author }) => author)
      await expect
        .poll(async () =>
          (await region.locator('li').allTextContents()).map((text) => / (\S+@[^:, ]+)/.exec(text)?.[1]),
        )
        .toEqual(wanted !== null || isDecided ? otherAuthors : [])
      await expectNoDecision(model, screen)
    },
  }),

  open: deskAct('open', [anyIndex], {
    isReading: true,
    can: isAtList,
    async do(_model, screen, [index]) {
      const rows = listOf(await rowsInDatabase(), screen)
      const shown = await getDesk(screen.page).names()
      const visible = rows.filter(({ name }) => shown.includes(name))
      if (visible.length === 0) return
      const { id, name } = nth(visible, index)
      await getDesk(screen.page).link(name).click()
      await getDesk(screen.page).heading(name).waitFor()
      Object.assign(screen, { list: null, application: id, depth: screen.depth + 1 })
      await expectApplication(screen)
    },
  }),

  back: deskAct('back', [], {
    isReading: true,
    can: hasBack,
    async do(model, screen) {
      await screen.page.goBack()
      screen.depth -= 1
      const { hash } = new URL(screen.page.url())
      const [, application] = /^#\/applications\/([^?]+)/.exec(hash) ?? []
      const parameters = new URLSearchParams(hash.split('?')[1])
      const isList = application === undefined && /^(#\/?(\?.*)?)?$/.test(hash)
      screen.application = application ?? null
      screen.list = isList ? ((parameters.get('status') ?? 'new') as Status) : null
      screen.search = isList ? (parameters.get('search') ?? '') : ''
      if (screen.list !== null) await expectFreshList(screen)
      if (screen.application !== null) await expectApplication(screen)
      await expectNoDecision(model, screen)
    },
  }),

  decideOne: deskAct('decideOne', [anyStatus], {
    can: isAtApplication,
    async do(model, screen, [wanted]) {
      const { page } = screen
      const application = screen.application ?? ''
      const row = (await rowsInDatabase()).find(({ id }) => id === application)
      if (row === undefined) return
      const { button, pill } = getDesk(page)
      await waitForRefresh(screen)
      await page.evaluate(() => dispatchEvent(new Event('focus')))
      await expect.poll(() => pill.textContent()).toBe(wordOf(row))
      // A withdrawn application is not decided.
      if (row.status === wanted || row.is_withdrawn) return
      const words = await announcementAfter(screen, () => button(labels[wanted]).click())
      expect(words).toMatch(new RegExp(`: ${statuses[wanted]}$`))
      await expectHistory(model, screen, [application], () => wanted)
      await expectApplication(screen)
    },
  }),

  decideMany: deskAct(
    'decideMany',
    [seldom, fc.subarray([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]), anyStatus],
    {
      can: isAtList,
      async do(model, screen, [isAll, indexes, wanted]) {
        const { page } = screen
        const { select, button, names: shownNames, bar, rowStatus } = getDesk(page)
        await waitForRefresh(screen)
        await expectShownList(screen)
        const shown = await shownNames()
        const rows = new Map((await rowsInDatabase()).map((row) => [row.name, row]))
        const existing = shown.filter((name) => rows.get(name)?.is_withdrawn === false)
        const inList = existing.filter((name) => rows.get(name)?.status === screen.list)
        const isWhole = isAll && !shown.some((name) => rows.get(name)?.is_withdrawn)
        const chosen = isWhole ? inList : existing.filter((_name, index) => indexes.includes(index))
        if (chosen.length === 0) return
        if (isWhole) await page.getByRole('checkbox', { name: 'Select all shown' }).check()
        else for (const name of chosen) await select(name).check()
        if (chosen.length > 1) await bar.getByText(`${chosen.length} selected`).waitFor()
        const before = await Promise.all(
          chosen.map(async (name) => ({ name, status: await rowStatus(name) })),
        )
        const changed = before.filter(({ status }) => status !== statuses[wanted]).map(({ name }) => name)
        const press = () => button(labels[wanted]).click()
        if (changed.length === 0) await page.keyboard.press('Escape')
        else {
          const words = await announcementAfter(screen, press)
          expect(words).toContain(statuses[wanted])
          expect(words).not.toContain('not saved')
        }
        await expectHistory(
          model,
          screen,
          changed.map((name) => rows.get(name)?.id ?? ''),
          () => wanted,
        )
        expect(await page.locator('tbody input:checked').count()).toBe(0)
        await expectShownList(screen)
      },
    },
  ),

  undo: deskAct('undo', [], {
    async do(model, screen) {
      const { undo } = getDesk(screen.page)
      if ((await undo.count()) === 0 || (await undo.getAttribute('aria-disabled')) === 'true') return
      const decisions = await desk.sql<
        { application_id: string; status: Status; former: Status; act: string }[]
      >`
        select application_id, detail ->> 'status' as status, detail ->> 'former' as former, act from private.history
        where act = (select act from private.history where author = ${screen.email} and kind = 'status'
          order by id desc limit 1)`
      expect(await undo.textContent()).toMatch(/^Undo: (\d+|.+,) /)
      const words = await announcementAfter(screen, () => undo.click())
      const newDecisions = await historySince(model.lastChecked)
      model.lastChecked = newDecisions.at(-1)?.id ?? model.lastChecked
      const unsaved = Number(/(\d+) not saved/.exec(words)?.[1] ?? (words.endsWith(': not saved') ? 1 : 0))
      // Only decisions of the organiser's last act are undone, each to its former status.
      for (const { application_id: id, author, status } of newDecisions) {
        expect(author).toBe(screen.email)
        expect(decisions.find((each) => each.application_id === id)?.former).toBe(status)
      }
      // The other organiser may have erased all of these applications meanwhile.
      if (unsaved === 0) expect(decisions).not.toEqual([])
      const notices = getDesk(screen.page).alert
      if (unsaved > 0) {
        await notices.first().waitFor()
        for (const leave of await notices.getByRole('button', { name: /^(Leave|Close)/ }).all()) {
          await leave.click({ timeout: 5_000 }).catch((error: unknown) => console.log(String(error)))
        }
      }
    },
  }),

  search: deskAct('search', [fc.constantFrom('anna', 'bea', 'kay', 'lise')], {
    isReading: true,
    can: isAtList,
    async do(model, screen, [word]) {
      screen.search = screen.search === '' ? word : ''
      await getDesk(screen.page).search.fill(screen.search)
      await screen.page.waitForFunction(
        (wanted) => (new URLSearchParams(location.hash.split('?')[1]).get('search') ?? '') === wanted,
        screen.search,
      )
      await expectFreshList(screen)
      await expectNoDecision(model, screen)
    },
  }),

  send: deskAct('send', [anyDecision, seldom, seldom], {
    async do(model, screen, [occasion, isOffline, isCancelled]) {
      const { page } = screen
      await page.goto(`${desk.origin}/desk#/letters/drafts/${occasion}`)
      Object.assign(screen, { list: null, application: null, search: '', depth: screen.depth + 1 })
      await getDesk(page).heading(`Drafts: ${statuses[occasion]}`).waitFor()
      const before = await lettersInDatabase()
      const drafts = before.filter((letter) => letter.occasion === occasion && letter.state === 'draft')
      await expect.poll(() => page.locator('.drafts-recipient').count()).toBe(drafts.length)
      if (drafts.length === 0) return
      const { dialog, button } = getDesk(page)
      await page
        .getByRole('button', { name: /^Send \d+ letters?$/ })
        .first()
        .click()
      if (isOffline) await page.context().setOffline(true)
      // A repeated letter needs a tick.
      for (const box of await dialog.getByRole('checkbox').all()) await box.check()
      if (isOffline) {
        await dialog.getByRole('button', { name: /^Send/ }).click()
        await dialog.getByText('You were offline.').waitFor()
        await button('Cancel').click()
        await page.context().setOffline(false)
        await page.getByText('What you see may be out of date').waitFor({ state: 'detached' })
        await expect.poll(() => page.locator('.drafts-recipient').count()).toBe(drafts.length)
        expect(await lettersInDatabase()).toEqual(before)
        return
      }
      if (isCancelled) {
        await button('Cancel').click()
        expect(await lettersInDatabase()).toEqual(before)
        return
      }
      expect(
        await announcementAfter(screen, () => dialog.getByRole('button', { name: /^Send/ }).click()),
      ).toContain('on the way')
      await page.getByText('No drafts here.').waitFor()
      const after = await lettersInDatabase()
      expect(
        after.filter(({ id }) => drafts.some((draft) => draft.id === id)).map(({ state }) => state),
      ).toEqual(drafts.map(() => 'waiting'))
      await expectNoDecision(model, screen)
    },
  }),

  stop: deskAct('stop', [], {
    async do(model, screen) {
      const { page } = screen
      await page.goto(`${desk.origin}/desk#/letters`)
      Object.assign(screen, { list: null, application: null, search: '', depth: screen.depth + 1 })
      await getDesk(page).heading('Letters').waitFor()
      const waiting = await desk.sql<{ act: string; count: number }[]>`
        select act, count(*)::int from private.deliveries where kind = 'letter' and state = 'waiting' group by act`
      const bars = page.getByRole('region', { name: 'On their way' })
      await expect.poll(() => bars.count()).toBe(waiting.length)
      if (waiting.length === 0) return
      const before = await lettersInDatabase()
      const words = await announcementAfter(screen, () => bars.first().getByRole('button').click())
      // One of several letters may already have been sent.
      expect(words).toMatch(/^\d+ letters? stopped\.( \d+ letters? had already been sent\.)?$/)
      const count = Number.parseInt(words, 10)
      const after = await lettersInDatabase()
      const changed = after.filter(({ id, state }) => before.find((each) => each.id === id)?.state !== state)
      expect(changed.filter(({ state }) => state === 'draft')).toHaveLength(count)
      // No letter has its own text, since nobody edited a letter.
      expect(after.filter(({ is_edited: isEdited }) => isEdited)).toEqual([])
      await expectNoDecision(model, screen)
    },
  }),

  deliver: deskAct('deliver', [], {
    async do() {
      // Marks a waiting letter as sent.
      await desk.sql`
        update private.deliveries set state = 'done', done_at = now(), due_at = null
        where id = (select id from private.letter_deliveries where state = 'waiting' and is_main order by id limit 1)`
    },
  }),

  withdraw: deskAct('withdraw', [anyIndex], {
    async do(model, screen, [index]) {
      // An applicant withdraws by the link of the receipt, or takes that back.
      const undecided = (await rowsInDatabase()).filter(
        (row) => row.is_newest && ['new', 'shortlisted', 'aside'].includes(row.status),
      )
      if (undecided.length === 0) return
      const { id, is_withdrawn: wasWithdrawn } = nth(undecided, index)
      const [{ token } = { token: '' }] = await desk.sql<{ token: string }[]>`
        insert into private.withdrawal_links (application_id) values (${id})
        on conflict (application_id) do update set token = gen_random_uuid() returning token`
      const isWithdrawn = !wasWithdrawn
      const given = { token, is_withdrawn: isWithdrawn, act: crypto.randomUUID() }
      const { data } = await clientOf(desk.origin).rpc('withdraw_application', given).throwOnError()
      expect(data).toMatchObject({ state: isWithdrawn ? 'withdrawn' : 'open' })
      await waitForRefresh(screen)
      if (screen.application === id) await expectApplication(screen)
      if (screen.list !== null) await expectShownList(screen)
      await expectNoDecision(model, screen)
    },
  }),

  template: deskAct('template', [anyDecision, fc.nat(999_999)], {
    async do(model, screen, [occasion, number]) {
      const { page } = screen
      await page.goto(`${desk.origin}/desk#/letters/templates/${occasion}`)
      Object.assign(screen, { list: null, application: null, search: '', depth: screen.depth + 1 })
      const text = page.getByLabel('Text', { exact: true })
      const storedBody = async () => {
        const [template] = await desk.sql<{ body: string }[]>`
          select body from private.templates where name = ${occasion}`
        return template?.body
      }
      await expect.poll(async () => text.inputValue()).toBe(await storedBody())
      const body = `Hello {{first_name}}, ${screen.email} writes ${number}.`
      await text.fill(body)
      await announcementAfter(screen, () => getDesk(page).button('Save').click())
      expect(await storedBody()).toBe(body)
      await expectNoDecision(model, screen)
    },
  }),

  begin: deskAct('begin', [], {
    async do(model, screen) {
      const { page } = screen
      const [{ newest }] = await desk.sql<
        [{ newest: number }]
      >`select max(id) as newest from private.editions`
      const name = `Retreat ${newest + 1}`
      await page.goto(`${desk.origin}/desk#/retreats`)
      Object.assign(screen, { list: null, application: null, search: '', depth: screen.depth + 1 })
      // If the other organiser has begun one since, what was typed before the screen knows it would be refused.
      await waitForRefresh(screen)
      await page.getByLabel('Name', { exact: true }).fill(name)
      await getDesk(page).button('Begin retreat').click()
      expect(await announcementAfter(screen, () => getDesk(page).button('Begin now').click())).toBe(
        `${name} has begun. Applications from now on belong to it.`,
      )
      await getDesk(page).heading('Days and places').waitFor()
      screen.depth += 1
      const now = Date.now()
      await desk.store(
        ['Mia', 'Nora', 'Olga', 'Pia', 'Rosa', 'Tess'].map((first_name, index) => ({
          first_name,
          last_name: `E${newest + 1}`,
          email: `${first_name}${newest + 1}@example.org`,
          created_at: new Date(now - index),
        })),
      )
      await expectNoDecision(model, screen)
    },
  }),

  erase: deskAct('erase', [seldom], {
    can: isAtApplication,
    async do(_model, screen, [isOffline]) {
      if ((await rowsInDatabase()).length < 8) return
      const { page, application } = screen
      const { button, dialog } = getDesk(page)
      const [{ email } = { email: '' }] = await desk.sql<{ email: string }[]>`
        select email from public.retreat_applications where id = ${application}`
      await button('Erase').click()
      await dialog.getByRole('textbox').fill(email)
      const before = (await rowsInDatabase()).length
      if (isOffline) {
        await page.context().setOffline(true)
        await button('Erase for good').click()
        await dialog.getByText('You were offline.').waitFor()
        await button('Cancel').click()
        await page.context().setOffline(false)
        await page.getByText('What you see may be out of date').waitFor({ state: 'detached' })
        expect(await rowsInDatabase()).toHaveLength(before)
        return
      }
      await announcementAfter(screen, () => button('Erase for good').click())
      expect(await rowsInDatabase()).toHaveLength(before - 1)
      const [, search] = page.url().split('?')
      Object.assign(screen, {
        application: null,
        list: (new URLSearchParams(search).get('status') ?? 'new') as Status,
        search: new URLSearchParams(search).get('search') ?? '',
        depth: screen.depth + 1,
      })
      await expectFreshList(screen)
    },
  }),

  offline: deskAct('offline', [anyIndex], {
    can: isAtApplication,
    async do(model, screen, [index]) {
      const { page } = screen
      const { button, pill, alert } = getDesk(page)
      const before = await pill.textContent()
      const wanted = nth(
        allStatuses.filter((status) => statuses[status] !== before),
        index,
      )
      await page.context().setOffline(true)
      expect(await announcementAfter(screen, () => button(labels[wanted]).click())).toMatch(/: not saved$/)
      await alert.getByText('was not saved. You were offline.').waitFor()
      await button('Close').click()
      await page.context().setOffline(false)
      await page.getByText('What you see may be out of date').waitFor({ state: 'detached' })
      await expectNoDecision(model, screen)
      await expectApplication(screen)
    },
  }),

  reload: deskAct('reload', [], {
    isReading: true,
    async do(model, screen) {
      await screen.page.reload()
      // If the clock moved before the script has loaded, the load would time out.
      await getDesk(screen.page).link('Applications').waitFor()
      if (screen.list !== null) await expectFreshList(screen)
      if (screen.application !== null) await expectApplication(screen)
      await expectNoDecision(model, screen)
    },
  }),

  activateWindow: deskAct('activateWindow', [], {
    isReading: true,
    async do(_model, screen) {
      await screen.page.evaluate(() => dispatchEvent(new Event('focus')))
      if (screen.list !== null) await expectFreshList(screen)
      if (screen.application !== null) await expectApplication(screen)
    },
  }),

  pause: deskAct('pause', [], {
    isReading: true,
    async do(_model, screen) {
      await waitForRefresh(screen)
      if (screen.list !== null) await expectShownList(screen)
    },
  }),
}

/** Resets the data to twelve applicants, and opens the desk as two organisers and a reader. */
async function begin(visitor: Visitor): Promise<DeskModel> {
  // Locks rows in the server's order, since requests of the previous sequence's page may still run.
  await desk.sql`
    with locked as materialized (select id from public.retreat_applications order by id for update)
    delete from public.retreat_applications where id in (select id from locked)`
  await desk.sql`delete from private.history`
  await removeEditions(desk.sql)
  await desk.store(
    ['Anna', 'Bea', 'Cleo', 'Dora', 'Edda', 'Fay', 'Gia', 'Hedy', 'Ina', 'June', 'Kay', 'Lise'].map(
      (first_name, index) => ({ first_name, last_name: `N${index}`, email: `${first_name}@example.org` }),
    ),
  )
  await desk.sql`update private.postman set stopped = false`
  await desk.sql`update private.letter_settings set hold = interval '1 day'`
  await beatTheHeart()
  const screens: OrganiserScreen[] = []
  const email = 'reader@example.org'
  const reader = { email, client: await desk.signedIn(email) }
  await desk.sql`
    update private.organisers set is_reader = true
    where account_id = (select id from auth.users where users.email = ${email})`
  for (const as of [desk.ada, desk.bob, reader]) {
    const page = await desk.open(visitor, '', { as, prepare: (opened) => opened.clock.install() })
    screens.push({ email: as.email, page, list: 'new', search: '', application: null, depth: 0 })
    await getDesk(page).tab('New').waitFor()
  }
  return { screens, lastChecked: '0' }
}

/** Records a server that sends letters. The test decides when each letter is sent. */
async function beatTheHeart() {
  await desk.sql`update private.postman set seen_at = now()`
}

/** Milliseconds for all sequences, and again for shortening a sequence that fails. */
const timeLimit = 200_000 + sequences * maxActs * 500

test(
  `two organisers, a reader and applicants do up to ${maxActs} random acts, and every screen matches the database`,
  { timeout: 2 * timeLimit },
  async ({ visitor }) => {
    visitor.allowConsoleError(failedRequest)
    const { tab, open, back, decideOne, decideMany } = acts
    // Frequent acts appear several times.
    const frequent = [tab, open, back, decideOne, decideMany]
    const actCount = await playRandomActs({
      acts: [...Object.values(acts), ...frequent, ...frequent, decideOne, decideOne],
      sequences,
      maxActs,
      timeLimit,
      begin: () => begin(visitor),
      afterEach: beatTheHeart,
      end: ({ screens }) => Promise.all(screens.map(({ page }) => page.context().close())),
    })
    expect(actCount).toBeGreaterThan((sequences * maxActs) / 4)
  },
)

function byId(one: { id: string }, other: { id: string }) {
  return one.id < other.id ? -1 : 1
}
