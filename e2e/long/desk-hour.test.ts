import * as fc from 'fast-check'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

import { statuses, type Status } from '../../src/application/statuses.ts'
import { actOf, playHours } from '../../testing/acts.ts'
import { deskForTestFile, getDesk } from '../../testing/desk-page.ts'
import { extent } from '../../testing/extent.ts'
import { test, type Visitor } from '../../testing/visitor.ts'

/** The most acts of an hour: `HOUR_ACTS=3000 SEED=7 npm run test:slow -- desk-hour`. */
const most = Number(process.env['HOUR_ACTS'] ?? 120)
const hours = extent(1, 20)

const desk = deskForTestFile()
const failedRequest = /Failed to load resource/
const names = Object.keys(statuses) as Status[]
const labels: Record<Status, string> = {
  new: 'Back to new',
  shortlisted: 'Shortlist',
  accepted: 'Accept',
  waitlisted: 'Waitlist',
  declined: 'Decline',
}

/** An organiser at a screen. */
interface Seat {
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

interface Hour {
  seats: Seat[]
  /** The last history entry that was checked. */
  lastWritten: string
}

interface Row {
  id: string
  name: string
  status: Status
}

/** All applications in the database, the newest first. */
async function rowsInDatabase(): Promise<Row[]> {
  return desk.sql<Row[]>`
    select id, first_name || ' ' || last_name as name, coalesce(status, 'new') as status
    from public.retreat_applications as application left join private.statuses on application_id = id
    order by application.created_at desc, id desc`
}

/** Whether the other organiser erased the open application. */
async function isErased({ application }: Seat) {
  return application !== null && !(await rowsInDatabase()).some(({ id }) => id === application)
}

interface Written {
  id: string
  application_id: string
  author: string
  status: Status | null
}

/** The later entries of the history. */
async function historySince(id: string): Promise<Written[]> {
  return desk.sql<Written[]>`
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
async function lookAgain({ page }: Seat) {
  await page.clock.fastForward(30_000)
}

function listOf(rows: readonly Row[], { list, search }: Seat) {
  return rows.filter(
    ({ name, status }) => status === list && name.toLowerCase().includes(search.toLowerCase()),
  )
}

/** A list just after it was opened equals the database, and so do the numbers on the tabs. */
async function agreesAtOnce(seat: Seat) {
  const { names: shown } = getDesk(seat.page)
  await expect.poll(shown).toEqual(listOf(await rowsInDatabase(), seat).map(({ name }) => name))
  await agreesInTime(seat)
}

/** A list that stays open: each row shows its current status, missing rows are offered, and the tabs have the right numbers. */
async function agreesInTime(seat: Seat) {
  const { names: shownNames, tabs } = getDesk(seat.page)
  const rows = await rowsInDatabase()
  const byName = new Map(rows.map((row) => [row.name, row]))
  const pills = async () => {
    const shown = await shownNames()
    const said = await seat.page.locator('tbody .decisions-pill').allTextContents()
    return Object.fromEntries(shown.map((name, place) => [name, said[place]]))
  }
  const stands = (name: string) => {
    const row = byName.get(name)
    return row === undefined ? 'Erased' : statuses[row.status]
  }
  await expect
    .poll(async () => {
      const shown = await pills()
      return Object.entries(shown).filter(([name, said]) => said !== stands(name))
    })
    .toEqual([])
  const offered = async () => {
    const [text = ''] = await seat.page.locator('.list-news').allTextContents()
    return [...text.matchAll(/\d+/g)].reduce((sum, [number]) => sum + Number(number), 0)
  }
  await expect
    .poll(async () => {
      const shown = await shownNames()
      const missing = listOf(rows, seat).filter(({ name }) => !shown.includes(name))
      return (await offered()) - missing.length
    })
    .toBe(0)
  const counted = (status: Status) => listOf(rows, { ...seat, list: status }).length
  await expect
    .poll(async () => (await tabs()).slice(0, names.length))
    .toEqual(names.map((status) => `${statuses[status]} ${counted(status)}`))
}

/** An open application shows its status and each decision once, or that it was erased. */
async function applicationAgrees(seat: Seat) {
  const { page, application } = seat
  if (await isErased(seat)) {
    await page.getByText('There is no such application: it may have been erased.').waitFor()
    return
  }
  const { pill, timeline } = getDesk(page)
  const id = application ?? ''
  await expect.poll(() => pill.textContent()).toBe(statuses[(await desk.statusOf(id)) as Status])
  const [{ count } = { count: 0 }] = await desk.sql<{ count: number }[]>`
    select count(*)::int from private.history where application_id = ${id} and kind = 'status'`
  await expect.poll(() => timeline.filter({ hasText: '(was ' }).count()).toBe(count)
}

/** The history has the intended decisions by the right organiser. `wanted` is null if no decision was intended. */
async function wrote(
  hour: Hour,
  seat: Seat,
  meant: readonly string[],
  wanted: (id: string) => Status | null,
) {
  const written = await historySince(hour.lastWritten)
  hour.lastWritten = written.at(-1)?.id ?? hour.lastWritten
  expect(
    written.map(({ application_id: id, author, status }) => ({ id, author, status })).toSorted(byId),
  ).toEqual(meant.map((id) => ({ id, author: seat.email, status: wanted(id) })).toSorted(byId))
}
const nothing = async (hour: Hour, seat: Seat) => wrote(hour, seat, [], () => null)

/** Gives the next announcement. Announcements of the other organiser's acts may come first. */
async function hears({ page }: Seat, press: () => Promise<unknown>) {
  await page.evaluate(() => {
    const region = document.querySelector('[role=status]')
    const heard = new Promise<string>((resolve) => {
      if (region === null) return
      new MutationObserver(() => {
        const text = region.textContent
        if (text && !/ (changed this just now|changed meanwhile)$/.test(text)) resolve(text)
      }).observe(region, {
        childList: true,
        subtree: true,
        characterData: true,
      })
    })
    Object.assign(window, { heard })
  })
  await press()
  return page.evaluate(() => Reflect.get(window, 'heard') as Promise<string>)
}

async function toList(seat: Seat, status: Status) {
  const { tab, link } = getDesk(seat.page)
  const isOpened = status !== seat.list
  if (seat.list === null) {
    await link('Applications').click()
    seat.list = 'new'
    seat.search = ''
    seat.application = null
    seat.depth += 1
  }
  if (status !== seat.list) seat.depth += 1
  await tab(statuses[status]).click()
  seat.list = status
  if (isOpened) return agreesAtOnce(seat)
  // A click on the open tab opens nothing, and the rows keep their positions.
  await lookAgain(seat)
  await agreesInTime(seat)
}

interface Doing<Choices> {
  can?: (seat: Readonly<Seat>) => boolean
  do: (hour: Hour, seat: Seat, choices: Choices) => Promise<unknown>
}

/** An act of either organiser. */
function doing<Choices extends unknown[]>(
  name: string,
  choices: { [Place in keyof Choices]: fc.Arbitrary<Choices[Place]> },
  { can = () => true, do: run }: Doing<NoInfer<Choices>>,
) {
  const seatOf = ({ seats }: Readonly<Hour>, who: number) => nth(seats, who)
  return actOf<Hour, [number, Choices]>(name, [fc.nat(1), fc.tuple<Choices>(...choices)], {
    can: (hour, [who]) => can(seatOf(hour, who)),
    async do(hour, [who, chosen]) {
      const seat = seatOf(hour, who)
      const where = new URL(seat.page.url()).hash
      try {
        // The screen of an application that the other organiser erased cannot be used further.
        if (await isErased(seat)) {
          await toList(seat, 'new')
          if (!can(seat)) return
        }
        await run(hour, seat, chosen)
      } catch (error) {
        throw new Error(`${name} by ${seat.email} at ${where}`, { cause: error })
      }
    },
  })
}

function nth<Item>(items: readonly Item[], place: number): Item {
  const item = items[place % items.length]
  if (item === undefined) throw new Error('There is nothing to choose from.')
  return item
}

const anyStatus = fc.constantFrom(...names)
const anyOccasion = fc.constantFrom('accepted' as const, 'waitlisted' as const, 'declined' as const)
const twelfth = fc.nat(11)
const seldom = fc.nat(9).map((tenth) => tenth > 6)
const isAtList = ({ list }: Readonly<Seat>) => list !== null
const isAtApplication = ({ application }: Readonly<Seat>) => application !== null
const hasBack = ({ depth }: Readonly<Seat>) => depth > 0

const acts = {
  tab: doing('tab', [anyStatus], {
    async do(hour, seat, [wanted]) {
      await toList(seat, wanted)
      await nothing(hour, seat)
    },
  }),

  open: doing('open', [twelfth], {
    can: isAtList,
    async do(_hour, seat, [place]) {
      const rows = listOf(await rowsInDatabase(), seat)
      const shown = await getDesk(seat.page).names()
      const there = rows.filter(({ name }) => shown.includes(name))
      if (there.length === 0) return
      const { id, name } = nth(there, place)
      await getDesk(seat.page).link(name).click()
      await getDesk(seat.page).heading(name).waitFor()
      Object.assign(seat, { list: null, application: id, depth: seat.depth + 1 })
      await applicationAgrees(seat)
    },
  }),

  back: doing('back', [], {
    can: hasBack,
    async do(hour, seat) {
      await seat.page.goBack()
      seat.depth -= 1
      const { hash } = new URL(seat.page.url())
      const [, application] = /^#\/applications\/([^?]+)/.exec(hash) ?? []
      const given = new URLSearchParams(hash.split('?')[1])
      const isList = application === undefined && /^(#\/?(\?.*)?)?$/.test(hash)
      seat.application = application ?? null
      seat.list = isList ? ((given.get('status') ?? 'new') as Status) : null
      seat.search = isList ? (given.get('search') ?? '') : ''
      if (seat.list !== null) await agreesAtOnce(seat)
      if (seat.application !== null) await applicationAgrees(seat)
      await nothing(hour, seat)
    },
  }),

  decideOne: doing('decideOne', [anyStatus], {
    can: isAtApplication,
    async do(hour, seat, [wanted]) {
      const { page } = seat
      const application = seat.application ?? ''
      const stands = await desk.statusOf(application)
      const { button, pill } = getDesk(page)
      await lookAgain(seat)
      await page.evaluate(() => dispatchEvent(new Event('focus')))
      await expect.poll(() => pill.textContent()).toBe(statuses[stands as Status])
      if (stands === wanted) return
      const words = await hears(seat, () => button(labels[wanted]).click())
      expect(words).toMatch(new RegExp(`: ${statuses[wanted]}$`))
      await wrote(hour, seat, [application], () => wanted)
      await applicationAgrees(seat)
    },
  }),

  decideMany: doing('decideMany', [seldom, fc.subarray([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]), anyStatus], {
    can: isAtList,
    async do(hour, seat, [isAll, some, wanted]) {
      const { page } = seat
      const { select, button, names: shownNames, bar, rowStatus } = getDesk(page)
      const shown = await shownNames()
      const rows = new Map((await rowsInDatabase()).map((row) => [row.name, row]))
      await lookAgain(seat)
      await agreesInTime(seat)
      const there = shown.filter((name) => rows.has(name))
      const ofList = there.filter((name) => rows.get(name)?.status === seat.list)
      const chosen = isAll ? ofList : there.filter((_name, place) => some.includes(place))
      if (chosen.length === 0) return
      if (isAll) await page.getByRole('checkbox', { name: 'Select all shown' }).check()
      else for (const name of chosen) await select(name).check()
      if (chosen.length > 1) await bar.getByText(`${chosen.length} selected`).waitFor()
      const before = await Promise.all(chosen.map(async (name) => ({ name, stands: await rowStatus(name) })))
      const meant = before.filter(({ stands }) => stands !== statuses[wanted]).map(({ name }) => name)
      const press = () => button(labels[wanted]).click()
      if (meant.length === 0) await page.keyboard.press('Escape')
      else {
        const words = await hears(seat, press)
        expect(words).toContain(statuses[wanted])
        expect(words).not.toContain('not saved')
      }
      await wrote(
        hour,
        seat,
        meant.map((name) => rows.get(name)?.id ?? ''),
        () => wanted,
      )
      expect(await page.locator('tbody input:checked').count()).toBe(0)
      await agreesInTime(seat)
    },
  }),

  undo: doing('undo', [], {
    async do(hour, seat) {
      const { undo } = getDesk(seat.page)
      if ((await undo.count()) === 0 || (await undo.getAttribute('aria-disabled')) === 'true') return
      const former = await desk.sql<
        { application_id: string; status: Status; former: Status; act: string }[]
      >`
        select application_id, detail ->> 'status' as status, detail ->> 'former' as former, act from private.history
        where act = (select act from private.history where author = ${seat.email} and kind = 'status'
          order by id desc limit 1)`
      expect(await undo.textContent()).toMatch(/^Undo: (\d+|.+,) /)
      const words = await hears(seat, () => undo.click())
      const written = await historySince(hour.lastWritten)
      hour.lastWritten = written.at(-1)?.id ?? hour.lastWritten
      const lost = Number(/(\d+) not saved/.exec(words)?.[1] ?? (words.endsWith(': not saved') ? 1 : 0))
      // Only decisions of this act are undone, each to its former status and only once.
      for (const { application_id: id, author, status } of written) {
        expect(author).toBe(seat.email)
        expect(former.find((each) => each.application_id === id)?.former).toBe(status)
      }
      // The other organiser may have erased all of them meanwhile.
      if (lost === 0) expect(former).not.toEqual([])
      const notices = getDesk(seat.page).alert
      if (lost > 0) {
        await notices.first().waitFor()
        for (const leave of await notices.getByRole('button', { name: /^(Leave|Close)/ }).all()) {
          await leave.click({ timeout: 5_000 }).catch((error: unknown) => console.log(String(error)))
        }
      }
    },
  }),

  search: doing('search', [fc.constantFrom('anna', 'bea', 'kay', 'lise')], {
    can: isAtList,
    async do(hour, seat, [word]) {
      seat.search = seat.search === '' ? word : ''
      await getDesk(seat.page).search.fill(seat.search)
      await seat.page.waitForFunction(
        (wanted) => (new URLSearchParams(location.hash.split('?')[1]).get('search') ?? '') === wanted,
        seat.search,
      )
      await agreesAtOnce(seat)
      await nothing(hour, seat)
    },
  }),

  send: doing('send', [anyOccasion, seldom, seldom], {
    async do(hour, seat, [told, isOffline, isCancelled]) {
      const { page } = seat
      await page.goto(`${desk.origin}/desk#/letters/drafts/${told}`)
      Object.assign(seat, { list: null, application: null, search: '', depth: seat.depth + 1 })
      await getDesk(page).heading(`Drafts: ${statuses[told]}`).waitFor()
      const before = await lettersInDatabase()
      const drafts = before.filter((letter) => letter.occasion === told && letter.state === 'draft')
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
      expect(await hears(seat, () => dialog.getByRole('button', { name: /^Send/ }).click())).toContain(
        'on the way',
      )
      await page.getByText('No drafts here.').waitFor()
      const after = await lettersInDatabase()
      expect(
        after.filter(({ id }) => drafts.some((draft) => draft.id === id)).map(({ state }) => state),
      ).toEqual(drafts.map(() => 'waiting'))
      await nothing(hour, seat)
    },
  }),

  stop: doing('stop', [], {
    async do(hour, seat) {
      const { page } = seat
      await page.goto(`${desk.origin}/desk#/letters`)
      Object.assign(seat, { list: null, application: null, search: '', depth: seat.depth + 1 })
      await getDesk(page).heading('Letters').waitFor()
      const waiting = await desk.sql<{ act: string; count: number }[]>`
        select act, count(*)::int from private.deliveries where kind = 'letter' and state = 'waiting' group by act`
      const bars = page.getByRole('region', { name: 'On their way' })
      await expect.poll(() => bars.count()).toBe(waiting.length)
      if (waiting.length === 0) return
      const before = await lettersInDatabase()
      const words = await hears(seat, () => bars.first().getByRole('button').click())
      // One of several letters may already have been sent.
      expect(words).toMatch(/^\d+ letters? stopped\.( \d+ letters? had already been sent\.)?$/)
      const count = Number.parseInt(words, 10)
      const after = await lettersInDatabase()
      const changed = after.filter(({ id, state }) => before.find((each) => each.id === id)?.state !== state)
      expect(changed.filter(({ state }) => state === 'draft')).toHaveLength(count)
      // All have the template's text, since nobody edited any.
      expect(after.filter(({ is_edited: isEdited }) => isEdited)).toEqual([])
      await nothing(hour, seat)
    },
  }),

  leave: doing('leave', [], {
    async do() {
      // Marks a waiting letter as sent.
      await desk.sql`
        update private.deliveries set state = 'done', done_at = now(), due_at = null
        where id = (select id from private.letter_deliveries where state = 'waiting' and is_main order by id limit 1)`
    },
  }),

  template: doing('template', [anyOccasion, fc.nat(999_999)], {
    async do(hour, seat, [told, number]) {
      const { page } = seat
      await page.goto(`${desk.origin}/desk#/letters/templates/${told}`)
      Object.assign(seat, { list: null, application: null, search: '', depth: seat.depth + 1 })
      const text = page.getByLabel('Text', { exact: true })
      const kept = async () => {
        const [template] = await desk.sql<{ body: string }[]>`
          select body from private.templates where name = ${told}`
        return template?.body
      }
      await expect.poll(async () => text.inputValue()).toBe(await kept())
      const body = `Hello {{first_name}}, ${seat.email} writes ${number}.`
      await text.fill(body)
      await hears(seat, () => getDesk(page).button('Save').click())
      expect(await kept()).toBe(body)
      await nothing(hour, seat)
    },
  }),

  erase: doing('erase', [seldom], {
    can: isAtApplication,
    async do(_hour, seat, [isOffline]) {
      if ((await rowsInDatabase()).length < 8) return
      const { page, application } = seat
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
      await hears(seat, () => button('Erase for good').click())
      expect(await rowsInDatabase()).toHaveLength(before - 1)
      const [, search] = page.url().split('?')
      Object.assign(seat, {
        application: null,
        list: (new URLSearchParams(search).get('status') ?? 'new') as Status,
        search: new URLSearchParams(search).get('search') ?? '',
        depth: seat.depth + 1,
      })
      await agreesAtOnce(seat)
    },
  }),

  offline: doing('offline', [twelfth], {
    can: isAtApplication,
    async do(hour, seat, [place]) {
      const { page } = seat
      const { button, pill, alert } = getDesk(page)
      const before = await pill.textContent()
      const wanted = nth(
        names.filter((status) => statuses[status] !== before),
        place,
      )
      await page.context().setOffline(true)
      expect(await hears(seat, () => button(labels[wanted]).click())).toMatch(/: not saved$/)
      await alert.getByText('was not saved. You were offline.').waitFor()
      await button('Close').click()
      await page.context().setOffline(false)
      await page.getByText('What you see may be out of date').waitFor({ state: 'detached' })
      await nothing(hour, seat)
      await applicationAgrees(seat)
    },
  }),

  reload: doing('reload', [], {
    async do(hour, seat) {
      await seat.page.reload()
      // Moving the clock during this would time out the load of the script.
      await getDesk(seat.page).link('Applications').waitFor()
      if (seat.list !== null) await agreesAtOnce(seat)
      if (seat.application !== null) await applicationAgrees(seat)
      await nothing(hour, seat)
    },
  }),

  look: doing('look', [], {
    async do(_hour, seat) {
      await seat.page.evaluate(() => dispatchEvent(new Event('focus')))
      if (seat.list !== null) await agreesAtOnce(seat)
      if (seat.application !== null) await applicationAgrees(seat)
    },
  }),

  stay: doing('stay', [], {
    async do(_hour, seat) {
      await lookAgain(seat)
      if (seat.list !== null) await agreesInTime(seat)
    },
  }),
}

/** Two organisers at their desks, and twelve applicants. */
async function begin(visitor: Visitor): Promise<Hour> {
  // In the order of the server's locks, since late requests of the previous hour's page may still run.
  await desk.sql`
    with locked as materialized (select id from public.retreat_applications order by id for update)
    delete from public.retreat_applications where id in (select id from locked)`
  await desk.sql`delete from private.history`
  await desk.store(
    ['Anna', 'Bea', 'Cleo', 'Dora', 'Edda', 'Fay', 'Gia', 'Hedy', 'Ina', 'June', 'Kay', 'Lise'].map(
      (first_name, place) => ({ first_name, last_name: `N${place}`, email: `${first_name}@example.org` }),
    ),
  )
  // The desk believes that a server sends letters. The test decides when each is sent.
  await desk.sql`update private.postman set seen_at = now() + interval '1 day', stopped = false`
  await desk.sql`update private.letter_settings set hold = interval '1 day'`
  const seats: Seat[] = []
  for (const as of [desk.ada, desk.bob]) {
    const page = await desk.open(visitor, '', { as, prepare: (opened) => opened.clock.install() })
    seats.push({ email: as.email, page, list: 'new', search: '', application: null, depth: 0 })
    await getDesk(page).tab('New').waitFor()
  }
  return { seats, lastWritten: '0' }
}

/** Milliseconds for the hours, and for shortening a failing one. */
const patience = 200_000 + hours * most * 500

test(
  `two organisers do up to ${most} acts an hour at the desk, and every screen matches the database`,
  { timeout: 2 * patience },
  async ({ visitor }) => {
    visitor.allowConsoleError(failedRequest)
    const { tab, open, back, decideOne, decideMany } = acts
    // Frequent acts appear several times.
    const frequent = [tab, open, back, decideOne, decideMany]
    const done = await playHours({
      acts: [...Object.values(acts), ...frequent, ...frequent, decideOne, decideOne],
      hours,
      most,
      patience,
      begin: () => begin(visitor),
      end: ({ seats }) => Promise.all(seats.map(({ page }) => page.context().close())),
    })
    expect(done).toBeGreaterThan((hours * most) / 4)
  },
)

function byId(one: { id: string }, other: { id: string }) {
  return one.id < other.id ? -1 : 1
}
