import { releaseDrafts } from '../support/letters.ts'
import type { Page, Route } from 'playwright-core'
import { expect } from 'vitest'

import { send } from '../support/client.ts'
import { hiddenName, people } from '../support/applicants.ts'
import { deskForTestFile, focused, getDesk } from '../support/desk-page.ts'
import { anApplication } from '../support/form.ts'
import { holdRequests } from '../support/held-requests.ts'
import { startReceiver, type Receiver } from '../support/receiver.ts'
import { test } from '../support/visitor.ts'
import { resize } from '../support/resize.ts'
import { refresh, settle } from '../support/refresh.ts'

const failedRequest = /Failed to load resource/

let receiver: Receiver
const desk = deskForTestFile(async () => {
  receiver = await startReceiver()
  return { WEBHOOK_URL: receiver.origin }
})

/** Holds decisions of the desk until they are released. */
const holdDecisions = (page: Page, then?: (route: Route) => Promise<void>) =>
  holdRequests(page, '**/rpc/desk_decide', then)

const refuse = (route: Route) =>
  route.fulfill({
    status: 500,
    json: { code: 'XX000', message: 'The disk is full.', details: null, hint: null },
  })

test('the newest fifty are listed, then fifty more at a time, and every tab shows its number', async ({
  visitor,
}) => {
  const stored = await desk.store(people(120))
  await desk.setStatus(stored.slice(0, 3), 'accepted')
  await desk.setStatus(stored.slice(3, 4), 'declined')
  const page = await desk.open(visitor)
  const { names, button, tab, tabs } = getDesk(page)
  await expect.poll(names).toHaveLength(50)
  expect((await names()).slice(0, 2)).toEqual(['Person 5', 'Person 6'])
  await button('More').click()
  await expect.poll(names).toHaveLength(100)
  await button('More').click()
  await expect.poll(names).toHaveLength(116)
  expect((await names()).at(-1)).toBe('Person 120')
  expect(await button('More').count()).toBe(0)
  await expect
    .poll(tabs)
    .toEqual(['New 116', 'Shortlisted 0', 'Accepted 3', 'Waitlisted 0', 'Declined 1', 'All 120'])
  await tab('Accepted').click()
  await expect.poll(names).toEqual(['Person 1', 'Person 2', 'Person 3'])
  expect(await tab('Accepted').getAttribute('aria-current')).toBe('page')
  await tab('All').click()
  await expect.poll(names).toHaveLength(50)
  expect((await names())[0]).toBe('Person 1')
})

test('on a phone the open tab is visible, even once every tab shows its number', async ({ visitor }) => {
  await desk.store(people(120))
  const page = await desk.open(visitor, '/?status=all', { viewport: { width: 390, height: 844 } })
  const { tab, tabs } = getDesk(page)
  await expect.poll(tabs).toContain('All 120')
  const [list, all] = [
    await page.getByRole('navigation', { name: 'Status' }).boundingBox(),
    await tab('All').boundingBox(),
  ]
  expect(all?.x).toBeGreaterThanOrEqual(list?.x ?? Number.NaN)
  expect((all?.x ?? Number.NaN) + (all?.width ?? 0)).toBeLessThanOrEqual(
    (list?.x ?? 0) + (list?.width ?? 0) + 1,
  )
})

test('the first screen shows at least four applications on a phone and five on a laptop, even with all labels in their rows', async ({
  visitor,
}) => {
  const stored = await desk.store(
    people(12).map((each) => ({
      ...each,
      email: 'one@example.com',
      company: 'Thompson & Featherstonehaugh',
    })),
  )
  await desk.setStatus(stored, 'accepted')
  await releaseDrafts(desk.sql, { state: 'done' })
  for (const [width, height, least] of [
    [390, 844, 4],
    [1366, 650, 5],
  ] as const) {
    const page = await desk.open(visitor, '/?status=accepted', { viewport: { width, height } })
    const { link, bar, heading, search } = getDesk(page)
    const visibleRowCount = async () => {
      const foot = (await bar.isVisible()) ? ((await bar.boundingBox())?.y ?? 0) : height
      const rows = await page.locator('.rows-table tbody tr').all()
      const boxes = await Promise.all(rows.map((row) => row.boundingBox()))
      return boxes.filter((box) => box && box.y >= 0 && box.y + box.height <= foot).length
    }
    await page.locator('.rows-letter').first().waitFor()
    expect(await visibleRowCount()).toBeGreaterThanOrEqual(least)
    // After Back, the bar of the opened application is shown if the window has room for it.
    await link('Person 1').click()
    await heading('Person 1').waitFor()
    await link('Back').click()
    await expect.poll(() => focused(page)).toBe('A: Person 1')
    expect(await visibleRowCount()).toBeGreaterThanOrEqual(least)
    expect(await search.isVisible()).toBe(true)
  }
})

test('on a phone no bar of decisions covers the list while nothing is ticked', async ({ visitor }) => {
  await desk.store(people(3))
  for (const [viewport, hasBar] of [
    [{ width: 390, height: 844 }, false],
    [{ width: 844, height: 390 }, false],
    [{ width: 1366, height: 650 }, true],
  ] as const) {
    const page = await desk.open(visitor, '', { viewport })
    const { link, bar, button, select } = getDesk(page)
    await link('Person 2').click()
    await button('Accept').waitFor()
    await link('Back').click()
    await expect.poll(() => focused(page)).toBe('A: Person 2')
    expect(await bar.isVisible()).toBe(hasBar)
    await select('Person 3').check()
    await button('Accept').waitFor()
  }
})

test('no decision button is pressed for a new application, and one is pressed for a decided application', async ({
  visitor,
}) => {
  const [{ id } = { id: '' }] = await desk.store(people(1))
  const page = await desk.open(visitor, `/applications/${id}`)
  const { button, bar, status } = getDesk(page)
  const pressed = () =>
    bar
      .getByRole('button')
      .evaluateAll((buttons) =>
        buttons
          .filter((each) => getComputedStyle(each).boxShadow !== 'none')
          .map(({ textContent }) => textContent),
      )
  await button('Accept').waitFor()
  expect(await pressed()).toEqual([])
  await button('Accept').click()
  await expect.poll(() => status.textContent()).toBe('Person 1: Accepted')
  await page.mouse.move(5, 5)
  expect(await pressed()).toEqual(['Accept'])
})

test('a row shows the name, company, team size, first line of the reason, time and status', async ({
  visitor,
}) => {
  const created_at = new Date('2024-03-05T12:00:00Z')
  const reason = '\n  To think.\r\nWithout a screen.'
  await desk.store([{ first_name: 'Zoë', last_name: 'K', company: 'Nana & Sons', reason, created_at }])
  const page = await desk.open(visitor)
  const { row } = getDesk(page)
  await expect
    .poll(() => row('Zoë K').getByRole('cell').allTextContents())
    .toEqual(['', 'Nana & Sons', '3-10', 'To think. …', '5 Mar 2024', 'New'])
})

// break: search-in-url
test('search covers names, email, company, LinkedIn, reason and custom solution, ignores accents, and is in no requested URL', async ({
  visitor,
}) => {
  await desk.store([
    { first_name: 'Émile', last_name: 'Zola', email: 'emile@naturalisme.example', company: 'Nana & Sons' },
    { first_name: 'Grace', last_name: 'Hopper', linkedin: 'linkedin.com/in/amazing', reason: 'The Øresund.' },
    { first_name: 'Ada', last_name: 'Byron', paid_solution: 'custom', custom_solution: 'A CABIN, far away' },
  ])
  const addresses: string[] = []
  const page = await desk.open(visitor, '', {
    prepare: async (opened) => opened.on('request', (request) => addresses.push(request.url())),
  })
  const { search, names } = getDesk(page)
  for (const [words, found] of [
    ['emile', ['Émile Zola']],
    ['ZOL', ['Émile Zola']],
    ['zo', []],
    ['emile@naturalisme.example', ['Émile Zola']],
    ['naturalisme', ['Émile Zola']],
    ['sons', ['Émile Zola']],
    ['amazing', ['Grace Hopper']],
    ['øres', ['Grace Hopper']],
    ['hopper grace', ['Grace Hopper']],
    ['cabin', ['Ada Byron']],
    ['emile hopper', []],
  ] as const) {
    await search.fill(words)
    await expect.poll(names, { message: words }).toEqual(found)
  }
  await page.getByText('No application matches.').waitFor()
  await search.fill('emile@naturalisme.example')
  await expect.poll(names).toEqual(['Émile Zola'])
  expect(new URL(page.url()).search).toBe('')
  expect(new URL(page.url()).hash).toBe('#/?search=emile%40naturalisme.example')
  await page.reload()
  await expect.poll(names).toEqual(['Émile Zola'])
  expect(addresses.filter((address) => /naturalisme|emile|zol/i.test(address.replace(/#.*/, '')))).toEqual([])
  expect(addresses.some((address) => address.endsWith('/rpc/desk_list'))).toBe(true)
})

test('a search that is too short to match beginnings says that it matches whole words', async ({
  visitor,
}) => {
  await desk.store([{ first_name: 'Al', last_name: 'Khwarizmi' }, ...people(1)])
  const page = await desk.open(visitor)
  const { names, search } = getDesk(page)
  const hint = page.locator('#search-hint')
  await expect.poll(names).toHaveLength(2)
  expect(await search.getAttribute('aria-describedby')).toBe('search-hint')
  await search.fill('al')
  await hint.getByText('Short words must match exactly, such as “al”.').waitFor()
  expect(await hint.getAttribute('aria-live')).toBe('polite')
  await expect.poll(names).toEqual(['Al Khwarizmi'])
  await search.fill('pe')
  await page.getByText('No application matches.').waitFor()
  await search.fill('per')
  await expect.poll(names).toEqual(['Person 1'])
  expect(await hint.textContent()).toBe('')
})

test('team size, paid solution and dates filter the list and its counts, each alone and together', async ({
  visitor,
}) => {
  const on = (day: string) => new Date(`${day}T12:00:00Z`)
  await desk.store([
    {
      first_name: 'A',
      last_name: 'A',
      team_size: '1-3',
      paid_solution: 'travel',
      created_at: on('2026-03-04'),
    },
    {
      first_name: 'B',
      last_name: 'B',
      team_size: '1-3',
      paid_solution: 'work',
      created_at: on('2026-03-03'),
    },
    {
      first_name: 'C',
      last_name: 'C',
      team_size: '10+',
      paid_solution: 'work',
      created_at: on('2026-03-02'),
    },
    { first_name: 'D', last_name: 'D', team_size: '', paid_solution: '', created_at: on('2026-03-01') },
  ])
  const page = await desk.open(visitor)
  const { names, button, tabs } = getDesk(page)
  const [teamSize, paidSolution] = [page.getByLabel('Team size'), page.getByLabel('Paid for a solution')]
  await expect.poll(names).toHaveLength(4)
  expect(await teamSize.isVisible()).toBe(false)
  await button('Filters').click()
  await teamSize.selectOption('1-3')
  await expect.poll(names).toEqual(['A A', 'B B'])
  await expect.poll(async () => (await tabs())[0]).toBe('New 2')
  await paidSolution.selectOption('Yes, work or team related')
  await expect.poll(names).toEqual(['B B'])
  await teamSize.selectOption('Any')
  await expect.poll(names).toEqual(['B B', 'C C'])
  await paidSolution.selectOption('No answer')
  await expect.poll(names).toEqual(['D D'])
  await button('Filters (1)').waitFor()
  await button('Clear').click()
  await expect.poll(names).toHaveLength(4)
  await page.getByLabel('Applied from').fill('2026-03-02')
  await expect.poll(names).toEqual(['A A', 'B B', 'C C'])
  await page.getByLabel('Applied to').fill('2026-03-03')
  await expect.poll(names).toEqual(['B B', 'C C'])
  await page.reload()
  await expect.poll(names).toEqual(['B B', 'C C'])
  // Active filters are shown even if their fields are not visible.
  await button('Filters (2)').click()
  expect(await page.getByLabel('Applied from').inputValue()).toBe('2026-03-02')
})

test('an address sent to a co-organiser opens the same list and application; Back returns to the earlier lists', async ({
  visitor,
}) => {
  const [, , third] = await desk.store(people(5).map((each) => ({ ...each, company: 'Acme' })))
  await desk.store([{ first_name: 'Not', last_name: 'Acme', company: 'Other' }])
  const page = await desk.open(visitor)
  const { names, tab, search, link, heading, position } = getDesk(page)
  await expect.poll(names).toHaveLength(6)
  await tab('All').click()
  await search.fill('acme person')
  await expect.poll(names).toHaveLength(5)
  await link('Person 3').click()
  await heading('Person 3').waitFor()
  await expect.poll(() => position.textContent()).toBe('3 of 5')
  expect(new URL(page.url()).hash).toBe(`#/applications/${third?.id}?status=all&search=acme+person`)

  const bobsPage = await desk.open(visitor, new URL(page.url()).hash.slice(1), { as: desk.bob })
  await getDesk(bobsPage).heading('Person 3').waitFor()
  await expect.poll(() => getDesk(bobsPage).position.textContent()).toBe('3 of 5')
  await getDesk(bobsPage).link('Back').click()
  await expect.poll(getDesk(bobsPage).names).toEqual(people(5).map(({ last_name }) => `Person ${last_name}`))
  expect(await getDesk(bobsPage).search.inputValue()).toBe('acme person')

  await link('Next').click()
  await heading('Person 4').waitFor()
  await page.goBack()
  await heading('Person 3').waitFor()
  await page.goBack()
  await expect.poll(names).toHaveLength(5)
  await page.goBack()
  await expect.poll(names).toHaveLength(6)
  expect(await tab('New').getAttribute('aria-current')).toBe('page')
})

test('a pending search does not close an application or a tab that is opened meanwhile', async ({
  visitor,
}) => {
  await desk.store(people(2))
  const page = await desk.open(visitor, '', { prepare: (opened) => opened.clock.install() })
  const { search, link, heading, tab, names } = getDesk(page)
  await link('Person 2').waitFor()
  await search.fill('person')
  await link('Person 2').click()
  await heading('Person 2').waitFor()
  await page.clock.fastForward(1_000)
  expect(await heading('Person 2').count()).toBe(1)
  await page.goBack()
  await search.fill('nobody')
  await tab('All').click()
  await page.clock.fastForward(1_000)
  await expect.poll(names).toEqual([])
  expect(await tab('All').getAttribute('aria-current')).toBe('page')
})

test('new applications are offered, and no row moves until they are requested', async ({ visitor }) => {
  await desk.store(people(60))
  const page = await desk.open(visitor, '', { prepare: (opened) => opened.clock.install() })
  const { names, button, row } = getDesk(page)
  await expect.poll(names).toHaveLength(50)
  for (const first_name of ['Late', 'Later', 'Latest']) {
    expect(await send(desk.origin, anApplication({ first_name, last_name: 'One' }))).toBe(201)
  }
  const before = await row('Person 3').boundingBox()
  await refresh(page)
  await button('3 new').waitFor()
  expect((await names()).slice(0, 2)).toEqual(['Person 1', 'Person 2'])
  expect(await row('Person 3').boundingBox()).toEqual(before)
  await button('3 new').click()
  await expect
    .poll(async () => (await names()).slice(0, 4))
    .toEqual(['Latest One', 'Later One', 'Late One', 'Person 1'])
  await expect.poll(() => button('3 new').count()).toBe(0)
  await refresh(page)
  await expect.poll(names).toHaveLength(50)
})

test('repeated applications from one email address are labelled, and each links to the others', async ({
  visitor,
}) => {
  await desk.store([
    { first_name: 'Ada', last_name: 'B', email: 'ADA@example.com', company: 'Engines' },
    { first_name: 'Grace', last_name: 'H' },
    { first_name: 'Ada', last_name: 'L', email: 'ada@example.com', company: 'Looms' },
  ])
  const page = await desk.open(visitor)
  const { row, link, heading } = getDesk(page)
  await link('Ada B').waitFor()
  expect(await page.locator('.rows-applied-again').count()).toBe(2)
  expect(await row('Grace H').textContent()).not.toContain('applied more than once')
  await link('Ada B').click()
  await page.getByRole('heading', { name: 'Other applications with this email' }).waitFor()
  await page.getByRole('link', { name: /^Looms, / }).click()
  await heading('Ada L').waitFor()
  await page.getByRole('link', { name: /^Engines, / }).waitFor()
})

test('an application shows every form answer unchanged, and only valid addresses become links', async ({
  visitor,
}) => {
  const reason = '  To think.\r\n\r\n\tWithout a <b>screen</b>.\n'
  const [whole, hostile] = await desk.store([
    { first_name: 'Ada', last_name: 'L', reason, linkedin: 'in/ada', phone: '+44 (20) 7946 0958' },
    {
      first_name: '<i>Eve</i>',
      last_name: 'M',
      email: 'eve',
      phone: 'call me',
      linkedin: 'javascript:alert(1)',
      paid_solution: 'custom',
      custom_solution: 'A cabin\nby the sea',
      team_size: '',
    },
  ])
  const page = await desk.open(visitor)
  const { link, heading } = getDesk(page)
  const answer = (label: string) =>
    page
      .locator('.application-answers > div', { has: page.getByText(label, { exact: true }) })
      .locator('dd')
      .evaluate((element) => element.textContent)
  await link('Ada L').click()
  await heading('Ada L').waitFor()
  expect(await answer('Why do you want to attend this retreat?')).toBe(reason)
  expect(await link(whole?.email ?? '').getAttribute('href')).toBe(`mailto:${whole?.email}`)
  expect(await link('+44 (20) 7946 0958').getAttribute('href')).toBe('tel:+442079460958')
  expect(await link('in/ada').getAttribute('href')).toBe('https://www.linkedin.com/in/ada')
  expect(await link('in/ada').getAttribute('rel')).toBe('noopener noreferrer')
  await page.goBack()
  await link('<i>Eve</i> M').click()
  await heading('<i>Eve</i> M').waitFor()
  expect(await page.locator('.application-answers a').count()).toBe(0)
  expect(await answer('LinkedIn')).toBe(hostile?.linkedin)
  expect(await answer('Custom answer')).toBe('A cabin\nby the sea')
  expect(await answer('Team size')).toBe('No answer')
})

test('very long texts show their beginning, and everything on request; the length of the text in the layout is bounded', async ({
  visitor,
}) => {
  const marks = `a${'\u0301'.repeat(9_999)}`
  const reasons = {
    word: 'xع'.repeat(50_000),
    lines: 'To think.\n'.repeat(10_000),
    ends: '\n'.repeat(100_000),
    marks: marks.repeat(10),
    turned: '\u202ex'.repeat(50_000),
  }
  const long = { last_name: 'ع漢'.repeat(5_000), company: marks, phone: '\u202e1 '.repeat(3_000) }
  await desk.store(Object.entries(reasons).map(([first_name, reason]) => ({ first_name, reason, ...long })))
  const page = await desk.open(visitor)
  const { heading } = getDesk(page)
  /** The length of the longest text node in the layout, and of all text nodes together. */
  const textLengths = () =>
    page.evaluate(() => {
      const lengths = [0]
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
      while (walker.nextNode()) {
        const { parentElement, textContent } = walker.currentNode
        if (parentElement?.checkVisibility({ contentVisibilityAuto: true }))
          lengths.push(textContent?.length ?? 0)
      }
      return { longest: Math.max(...lengths), all: lengths.reduce((sum, length) => sum + length) }
    })
  const rows = page.locator('.rows-table tbody tr')
  await expect.poll(() => rows.count()).toBe(5)
  expect((await textLengths()).longest).toBeLessThan(300)
  // Measured in one call, since the script replaces the document's rows.
  const heights = await rows.evaluateAll((all) => all.map((row) => row.getBoundingClientRect().height))
  expect(Math.max(...heights)).toBeLessThan(100)

  for (const [first_name, reason] of Object.entries(reasons)) {
    await page.locator('.rows-name a', { hasText: first_name }).click()
    await heading(`${first_name} ${long.last_name}`.slice(0, 120).concat('…')).waitFor()
    const { longest, all } = await textLengths()
    expect(longest).toBeLessThan(5_000)
    expect(all).toBeLessThan(25_000)
    const answer = page.locator('.application-answers .application-long dd')
    await answer.getByRole('button', { name: /^Show all/ }).click()
    expect((await textLengths()).longest).toBeLessThan(5_000)
    const shown = answer.locator('bdi')
    expect(await shown.textContent()).toBe(reason)
    const copied = await shown.evaluate((element) => {
      getSelection()?.selectAllChildren(element)
      return getSelection()?.toString().trimEnd()
    })
    expect(copied).toBe(reason.trimEnd())
    await page.goBack()
  }
})

test('an application prints all its data, black on white and without buttons', async ({ visitor }) => {
  const end = 'That is all of it.'
  const [stored] = await desk.store([
    {
      first_name: 'Ada',
      last_name: 'L',
      email: 'ada@example.com',
      reason: `${'To think. '.repeat(600)}${end}`,
    },
    ...people(1),
    { first_name: 'Ada', last_name: 'B', email: 'ada@example.com', company: 'Looms' },
  ])
  await desk.setStatus(stored ? [stored] : [], 'accepted', desk.bob)
  await desk.ada.client
    .rpc('desk_note', { act: crypto.randomUUID(), application: stored?.id, note: 'Ask her.' })
    .throwOnError()
  await releaseDrafts(desk.sql, { state: 'done', subject: 'Come', body: 'And bring bees.' })
  const page = await desk.open(visitor, `/applications/${stored?.id}?status=all`)
  const { note, heading, timeline } = getDesk(page)
  await note.waitFor()
  const bees = timeline.getByText('And bring bees.')
  expect(await bees.isVisible()).toBe(false)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ media: 'print', colorScheme })
    await heading('Ada L').waitFor()
    for (const text of [end, 'Ask her.', 'And bring bees.', 'Looms'])
      await page.getByText(text).filter({ visible: true }).first().waitFor()
    expect(await getDesk(page).pill.isVisible()).toBe(true)
    const controls = page.locator('button, input, textarea, select, nav a, .decisions-bar')
    expect(await controls.filter({ visible: true }).count()).toBe(0)
    const colours = await page.locator('body, body *').evaluateAll((all) => [
      ...new Set(
        all
          .filter((each) => each.checkVisibility())
          .flatMap((each) => {
            const { color, backgroundColor } = getComputedStyle(each)
            return [color, backgroundColor]
          }),
      ),
    ])
    expect(colours.toSorted()).toEqual(['rgb(0, 0, 0)', 'rgb(255, 255, 255)', 'rgba(0, 0, 0, 0)'])
  }
  await page.emulateMedia({ media: 'screen' })
  await bees.waitFor({ state: 'hidden' })
})

test('an application shows its position in the list, and Next also works across pages of the list', async ({
  visitor,
}) => {
  await desk.store(people(101))
  const page = await desk.open(visitor)
  const { link, heading, position } = getDesk(page)
  await link('Person 50').click()
  await expect.poll(() => position.textContent()).toBe('50 of 101, 101 to read')
  await link('Next').click()
  await heading('Person 51').waitFor()
  await expect.poll(() => position.textContent()).toBe('51 of 101, 101 to read')
  await link('Previous').click()
  await heading('Person 50').waitFor()
  await page.reload()
  await expect.poll(() => position.textContent()).toBe('50 of 101, 101 to read')
  await link('Back').click()
  await link('Person 1').click()
  await heading('Person 1').waitFor()
  await expect.poll(() => position.textContent()).toBe('1 of 101, 101 to read')
  expect(await link('Previous').count()).toBe(0)
})

test('the timeline shows each event with its time and person, including the webhook’s delivery', async ({
  visitor,
}) => {
  const application = anApplication({ first_name: 'Ada', last_name: 'L' })
  expect(await send(desk.origin, application)).toBe(201)
  await receiver.waitFor(1, ({ body }) => body.includes(encodeURIComponent(application.email)))
  await expect.poll(() => desk.sql`select from private.deliveries where state <> 'done'`).toHaveLength(0)
  const [{ id } = { id: '' }] = await desk.sql<{ id: string }[]>`select id from public.retreat_applications`
  await desk.setStatus([{ id }], 'waitlisted', desk.bob)
  const page = await desk.open(visitor)
  const { link, timeline, note, button, status } = getDesk(page)
  await getDesk(page).tab('Waitlisted').click()
  await link('Ada L').click()
  await button('Decline').click()
  await expect.poll(() => status.textContent()).toBe('Ada L: Declined')
  await note.fill('Too far away.')
  await button('Add note').click()
  const moment = '\\d+ [A-Z][a-z]+ 20\\d\\d, \\d\\d:\\d\\d'
  await expect
    .poll(() => timeline.allTextContents())
    .toEqual([
      expect.stringMatching(`^${moment}Received$`),
      expect.stringMatching(`^${moment}Passed on to the connected system \\(webhook\\)$`),
      expect.stringMatching(`^${moment}, bob@example.orgWaitlisted \\(was New\\)$`),
      expect.stringMatching(`^${moment}, ada@example.orgDeclined \\(was Waitlisted\\)$`),
      expect.stringMatching(`^${moment}, ada@example.orgToo far away.$`),
    ])
})

test('five buttons decide; each decision is announced, shown and saved, and can be undone', async ({
  visitor,
}) => {
  const [{ id } = { id: '' }] = await desk.store([{ first_name: 'Ada', last_name: 'L' }])
  const page = await desk.open(visitor, `/applications/${id}`)
  const { button, status, pill, undo } = getDesk(page)
  for (const [label, name] of [
    ['Shortlist', 'Shortlisted'],
    ['Accept', 'Accepted'],
    ['Waitlist', 'Waitlisted'],
    ['Decline', 'Declined'],
    ['Back to new', 'New'],
  ] as const) {
    await button(label).click()
    await expect.poll(() => status.textContent()).toBe(`Ada L: ${name}`)
    expect(await pill.textContent()).toBe(name)
    const attribute = label === 'Back to new' ? 'aria-disabled' : 'aria-pressed'
    expect(await button(label).getAttribute(attribute)).toBe('true')
    expect(await desk.statusOf(id)).toBe(name.toLowerCase())
  }
  await undo.click()
  await expect.poll(() => status.textContent()).toBe('Undone: Ada L is Declined again')
  expect(await desk.statusOf(id)).toBe('declined')
  await page.reload()
  await expect.poll(() => pill.textContent()).toBe('Declined')
})

test('several applications are decided at once, each row shows its result, and all are undone together', async ({
  visitor,
}) => {
  const stored = await desk.store(people(4))
  await desk.setStatus(stored.slice(1, 2), 'shortlisted')
  const page = await desk.open(visitor, '/?status=all')
  const { select, button, bar, status, rowStatus, tabs, undo } = getDesk(page)
  const rowStatuses = () => Promise.all([1, 2, 3, 4].map((number) => rowStatus(`Person ${number}`)))
  for (const name of ['Person 1', 'Person 2', 'Person 4']) await select(name).check()
  await bar.getByText('3 selected').waitFor()
  await button('Accept').click()
  await expect
    .poll(() => status.textContent())
    .toBe('3 applications: Accepted (before: 2 New, 1 Shortlisted)')
  expect(await undo.textContent()).toBe('Undo: 3 accepted')
  expect(await rowStatuses()).toEqual(['Accepted', 'Accepted', 'New', 'Accepted'])
  expect((await Promise.all(stored.map(({ id }) => desk.statusOf(id)))).join()).toBe(
    'accepted,accepted,new,accepted',
  )
  await expect.poll(async () => (await tabs())[2]).toBe('Accepted 3')
  await undo.click()
  await expect.poll(() => status.textContent()).toBe('Undone: 3 applications are as they were before')
  expect(await rowStatuses()).toEqual(['New', 'Shortlisted', 'New', 'New'])
  await page.reload()
  await expect.poll(rowStatuses).toEqual(['New', 'Shortlisted', 'New', 'New'])
})

test('an unknown address says that nothing is here, and links to the list', async ({ visitor }) => {
  await desk.store(people(1))
  const page = await desk.open(visitor, '/hired')
  const { heading, names } = getDesk(page)
  await heading('There is nothing here').waitFor()
  await expect.poll(() => page.title()).toBe('There is nothing here · Unplugged.')
  await page.locator('#content').getByRole('link', { name: 'Applications' }).click()
  await expect.poll(names).toEqual(['Person 1'])
})

test('a decided row keeps its position in the open tab, and is also in the tab of its new status', async ({
  visitor,
}) => {
  await desk.store(people(3))
  const page = await desk.open(visitor)
  const { select, button, status, rowStatus, names, tab } = getDesk(page)
  await select('Person 2').check()
  await button('Decline').click()
  await expect.poll(() => status.textContent()).toBe('Person 2: Declined')
  expect(await names()).toEqual(['Person 1', 'Person 2', 'Person 3'])
  expect(await rowStatus('Person 2')).toBe('Declined')
  await tab('Declined').click()
  await expect.poll(names).toEqual(['Person 2'])
})

test('an unsaved note survives a reload, an added note has author and time, and neither changes the status', async ({
  visitor,
}) => {
  const [{ id } = { id: '' }] = await desk.store(people(2))
  const page = await desk.open(visitor, `/applications/${id}`)
  const { note, button, status, timeline, pill, link } = getDesk(page)
  await note.fill('A strong one.\nAsk her.')
  await page.reload()
  await expect.poll(() => note.inputValue()).toBe('A strong one.\nAsk her.')
  await link('Next').click()
  await getDesk(page).heading('Person 2').waitFor()
  expect(await note.inputValue()).toBe('')
  await page.goBack()
  await expect.poll(() => note.inputValue()).toBe('A strong one.\nAsk her.')
  await button('Add note').click()
  await expect.poll(() => status.textContent()).toBe('Note added')
  expect(await timeline.last().locator('.application-note').textContent()).toBe('A strong one.\nAsk her.')
  expect(await timeline.last().textContent()).toMatch(/^\d+ .* 20\d\d, \d\d:\d\d, ada@example.org/)
  expect(await note.inputValue()).toBe('')
  expect(await pill.textContent()).toBe('New')
  await page.reload()
  await expect.poll(() => timeline.locator('.application-note').count()).toBe(1)
  expect(await note.inputValue()).toBe('')
  expect(await desk.statusOf(id)).toBe('new')
  expect(await desk.sql`select kind, author, application_id from private.history`).toEqual([
    { kind: 'note', author: 'ada@example.org', application_id: id },
  ])
})

test('a refused note is reported, and its text is kept', async ({ visitor }) => {
  visitor.allowConsoleError(failedRequest)
  const [{ id } = { id: '' }] = await desk.store(people(1))
  const page = await desk.open(visitor, `/applications/${id}`)
  const { note, button } = getDesk(page)
  await page.route('**/rpc/desk_note', refuse)
  await note.fill('A strong one.')
  await button('Add note').click()
  await page.getByText('Note not added. The disk is full.').waitFor()
  expect(await note.inputValue()).toBe('A strong one.')
  await page.unroute('**/rpc/desk_note')
  await button('Add note').click()
  await expect.poll(() => getDesk(page).status.textContent()).toBe('Note added')
})

test('a decision is shown at once as being saved, and is confirmed by the response', async ({ visitor }) => {
  const [{ id } = { id: '' }] = await desk.store([{ first_name: 'Ada', last_name: 'L' }])
  const page = await desk.open(visitor, `/applications/${id}`)
  const { button, status, pill } = getDesk(page)
  const release = await holdDecisions(page)
  const [request] = await Promise.all([page.waitForRequest('**/rpc/desk_decide'), button('Accept').click()])
  expect(request.method()).toBe('POST')
  expect(await pill.textContent()).toBe('Accepted (saving)')
  expect(await pill.getAttribute('aria-busy')).toBe('true')
  expect(await button('Accept').getAttribute('aria-pressed')).toBe('true')
  expect(await status.textContent()).toBe('')
  expect(await desk.statusOf(id)).toBe('new')
  release()
  await expect.poll(() => status.textContent()).toBe('Ada L: Accepted')
  expect(await pill.textContent()).toBe('Accepted')
  expect(await desk.statusOf(id)).toBe('accepted')
})

test('a decision that the server refuses is shown as not saved, and the former status returns', async ({
  visitor,
}) => {
  visitor.allowConsoleError(failedRequest)
  const [first] = await desk.store(people(2))
  await desk.setStatus([{ id: first?.id ?? '' }], 'shortlisted')
  const page = await desk.open(visitor, '/?status=all')
  const { select, button, status, rowStatus, alert, undo } = getDesk(page)
  await page.route('**/rpc/desk_decide', refuse)
  await select('Person 1').check()
  await button('Accept').click()
  await expect.poll(() => status.textContent()).toBe('Person 1: not saved')
  expect(await rowStatus('Person 1')).toBe('Shortlisted')
  expect(await alert.locator('p').first().textContent()).toBe(
    'Person 1: “Accepted” was not saved. The disk is full.',
  )
  expect(await undo.getAttribute('aria-disabled')).toBe('true')
  await page.unroute('**/rpc/desk_decide')
  await button('Try again').click()
  await expect.poll(() => status.textContent()).toBe('Person 1: Accepted')
  await expect.poll(() => alert.count()).toBe(0)
  expect(await desk.statusOf(first?.id ?? '')).toBe('accepted')
})

test('after a failed second decision the first one remains, and a third is not reported as a conflict', async ({
  visitor,
}) => {
  visitor.allowConsoleError(failedRequest)
  const [{ id } = { id: '' }] = await desk.store(people(1))
  const page = await desk.open(visitor)
  const { select, button, status, rowStatus, alert } = getDesk(page)
  let calls = 0
  await page.route('**/rpc/desk_decide', (route) => {
    calls += 1
    return calls === 2 ? refuse(route) : route.continue()
  })
  await select('Person 1').check()
  // Presses both buttons at once, so that the second decision is pending before the first response.
  await page.evaluate(() => {
    for (const label of ['Accept', 'Decline']) {
      const found = [...document.querySelectorAll('.decisions-bar button')].find(
        (each) => each.textContent === label,
      )
      if (found instanceof HTMLElement) found.click()
    }
  })
  await expect.poll(() => status.textContent()).toBe('Person 1: not saved')
  expect(await rowStatus('Person 1')).toBe('Accepted')
  await button('Waitlist').click()
  await expect.poll(() => status.textContent()).toBe('Person 1: Waitlisted')
  await expect.poll(() => alert.count()).toBe(0)
  expect(await desk.statusOf(id)).toBe('waitlisted')
})

test('the decision buttons keep their position when Undo changes its text, so a double click presses one button', async ({
  visitor,
}) => {
  const [{ id } = { id: '' }] = await desk.store([
    { first_name: 'Bartholomew', last_name: 'Featherstonehaugh' },
  ])
  const page = await desk.open(visitor, `/applications/${id}`)
  const { button, pill, bar } = getDesk(page)
  const buttonPositions = () =>
    bar.locator('[data-status]').evaluateAll((buttons) => buttons.map((each) => each.getBoundingClientRect()))
  for (const [index, width] of [1920, 1280, 1024, 800, 390].entries()) {
    await resize(page, { width, height: 720 })
    await page.reload()
    await button('Undo').waitFor()
    const before = await buttonPositions()
    const [label, status] = index % 2 === 0 ? ['Waitlist', 'Waitlisted'] : ['Shortlist', 'Shortlisted']
    await button(label).dblclick()
    await expect.poll(() => pill.textContent()).toBe(status)
    expect(await buttonPositions()).toEqual(before)
  }
})

test('a decision without a response is retried, then shown as not confirmed; offline it is refused at once', async ({
  visitor,
}) => {
  visitor.allowConsoleError(failedRequest)
  const [{ id } = { id: '' }] = await desk.store([{ first_name: 'Ada', last_name: 'L' }])
  const page = await desk.open(visitor, `/applications/${id}`, {
    prepare: (opened) => opened.clock.install(),
  })
  const { button, status, pill, alert } = getDesk(page)
  await pill.waitFor()
  await page.route('**/rpc/desk_decide', (route) => route.abort())
  await button('Accept').click()
  await expect.poll(() => pill.textContent()).toBe('Accepted (saving)')
  await expect
    .poll(async () => {
      // A call that is still pending would time out.
      await settle(page)
      await page.clock.fastForward(1_000)
      return alert.count()
    })
    .toBe(1)
  expect(await alert.textContent()).toContain(
    '“Accepted” was not confirmed. The server could not be reached.',
  )
  await page.unroute('**/rpc/desk_decide')
  await page.context().setOffline(true)
  await button('Try again').click()
  await alert.getByText('“Accepted” was not saved. You were offline.').waitFor()
  expect(await status.textContent()).toBe('Ada L: not saved')
  expect(await pill.textContent()).toBe('New')
  await page.context().setOffline(false)
  await button('Try again').click()
  await expect.poll(() => status.textContent()).toBe('Ada L: Accepted')
  expect(await desk.statusOf(id)).toBe('accepted')
})

test('a reveal lasts until the screen is left, and is recorded once despite repeated requests', async ({
  visitor,
}) => {
  visitor.allowConsoleError(failedRequest)
  const [{ id } = { id: '' }] = await desk.store([
    { first_name: 'Ada', last_name: 'L', email: 'ada@example.com' },
  ])
  await desk.sql`update private.organisers set blind = true`
  const revealed = () => desk.sql`select author from private.history where application_id = ${id}`
  const page = await desk.open(visitor, `/applications/${id}`)
  const { button, heading, link, note, timeline } = getDesk(page)
  const reveals = timeline.filter({ hasText: 'Revealed name, ' })
  await page.route(
    '**/rpc/desk_reveal',
    async (route) => {
      await route.fetch()
      await refuse(route)
    },
    { times: 1 },
  )
  await button('Reveal').click()
  await page.getByText('The disk is full.').waitFor()
  await button('Reveal').click()
  await heading('Ada L').waitFor()
  await link('ada@example.com').waitFor()
  await expect.poll(() => focused(page)).toBe('H1: Ada L')
  await expect.poll(() => reveals.allTextContents()).toEqual([expect.stringContaining('ada@example.org')])
  await expect.poll(() => page.getByText('The disk is full.').count()).toBe(0)
  await expect.poll(() => button('Reveal').count()).toBe(0)
  expect(await revealed()).toEqual([{ author: 'ada@example.org' }])

  await link('Back').click()
  await heading('Applications').waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: hiddenName }).waitFor()
  // The focus stays where the organiser has moved it meanwhile.
  const release = await holdRequests(page, '**/rpc/desk_reveal')
  await Promise.all([page.waitForRequest('**/rpc/desk_reveal'), button('Reveal').click()])
  await note.focus()
  release()
  await heading('Ada L').waitFor()
  await expect.poll(() => reveals.count()).toBe(2)
  await expect.poll(() => focused(page)).toBe('TEXTAREA: Note')
  expect(await revealed()).toHaveLength(2)
})

test('typing the email address erases an application for good, together with a ticked one of the same address', async ({
  visitor,
}) => {
  const sameEmail = { email: 'ada@example.com' }
  const [first, , third] = await desk.store([
    { first_name: 'Ada', last_name: 'L', ...sameEmail, company: 'Engines' },
    { first_name: 'Grace', last_name: 'H' },
    { first_name: 'Ada', last_name: 'B', ...sameEmail, company: 'Looms' },
    { first_name: 'Ada', last_name: 'C', ...sameEmail, company: 'Cards' },
  ])
  // The server refuses a wrong email address.
  visitor.allowConsoleError(failedRequest)
  const page = await desk.open(visitor)
  const { link, button, dialog, status, names, note, undo } = getDesk(page)
  await link('Ada L').click()
  await button('Decline').click()
  await undo.getByText('Ada L,').waitFor()
  await note.fill('Half a thought.')
  await button('Erase').click()
  await dialog.getByText(/Earlier backups have it until they are removed/).waitFor()
  await dialog.getByLabel(/^Type the email/).fill('grace@example.com')
  await button('Erase for good').click()
  await page.getByText('This is not the email of this application. Nothing was erased.').waitFor()
  expect(await desk.sql`select from public.retreat_applications`).toHaveLength(4)
  await dialog.getByLabel(/^Looms, /).check()
  await dialog.getByLabel(/^Type the email/).fill(' ADA@example.com ')
  await button('Erase for good').click()
  await expect.poll(() => status.textContent()).toBe('Ada L: erased, 2 applications')
  await expect.poll(names).toEqual(['Grace H', 'Ada C'])
  expect(
    await desk.sql`select from public.retreat_applications where id in (${first?.id ?? ''}, ${third?.id ?? ''})`,
  ).toHaveLength(0)
  expect(await desk.sql`select author, kind, detail from private.history`).toEqual([
    { author: 'ada@example.org', kind: 'erased', detail: { applications: 2 } },
  ])
  expect(await page.evaluate(() => Object.keys(sessionStorage))).toEqual([])
  // Undo does not name an erased person either.
  expect(await page.getByText('Ada L,').count()).toBe(0)
})

test('shortcuts search, open, decide, add a note, select, undo and go back, but not while typing in a field', async ({
  visitor,
}) => {
  await desk.store(people(3))
  const page = await desk.open(visitor)
  const { keyboard } = page
  const { link, heading, status, rowStatus, select, note, search, dialog, pill, bar } = getDesk(page)
  const expectAnnouncement = async (text: string) => {
    await expect.poll(() => status.textContent()).toBe(text)
  }
  const expectFocus = async (name: string) => {
    await expect.poll(() => link(name).evaluate((element) => element === document.activeElement)).toBe(true)
  }
  await link('Person 1').waitFor()
  await keyboard.press('j')
  await expectFocus('Person 1')
  await keyboard.press('j')
  await keyboard.press('j')
  await expectFocus('Person 3')
  await keyboard.press('k')
  await expectFocus('Person 2')
  // The current row is announced, and keeps its highlight when the focus is elsewhere.
  const current = page.locator('tr[aria-current]')
  expect(await current.getByRole('link').textContent()).toBe('Person 2')
  const highlight = await current
    .locator('td')
    .first()
    .evaluate((cell) => getComputedStyle(cell).boxShadow)
  expect(highlight).toMatch(/inset$/)
  await page.getByRole('table', { name: /j and k move between rows/ }).waitFor()
  for (const [key, statusName] of [
    ['s', 'Shortlisted'],
    ['a', 'Accepted'],
    ['w', 'Waitlisted'],
    ['d', 'Declined'],
    ['r', 'New'],
  ] as const) {
    await keyboard.press(key)
    await expectAnnouncement(`Person 2: ${statusName}`)
    expect(await rowStatus('Person 2')).toBe(statusName)
  }
  await keyboard.press('z')
  await expectAnnouncement('Undone: Person 2 is Declined again')
  await keyboard.press('x')
  await keyboard.press('k')
  await keyboard.press('x')
  await bar.getByText('2 selected').waitFor()
  await keyboard.press('a')
  await expectAnnouncement('2 applications: Accepted (before: 1 New, 1 Declined)')
  await keyboard.press('Escape')
  expect(await select('Person 1').isChecked()).toBe(false)
  await keyboard.press('Enter')
  await heading('Person 1').waitFor()
  await keyboard.press('j')
  await heading('Person 2').waitFor()
  await keyboard.press('k')
  await heading('Person 1').waitFor()
  await expect.poll(() => pill.textContent()).toBe('Accepted')
  await keyboard.press('w')
  await expectAnnouncement('Person 1: Waitlisted')
  await keyboard.press('z')
  await expectAnnouncement('Undone: Person 1 is Accepted again')
  await keyboard.press('n')
  await keyboard.type('sawdrjkxz?/n')
  expect(await note.inputValue()).toBe('sawdrjkxz?/n')
  await keyboard.press('Escape')
  expect(await heading('Person 1').count()).toBe(1)
  await note.blur()
  await keyboard.press('?')
  await dialog.waitFor()
  await keyboard.press('d')
  await keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })
  expect(await heading('Person 1').count()).toBe(1)
  await keyboard.press('Control+a')
  await keyboard.press('Escape')
  // The others were accepted and left this list, and the row that took their position has the focus.
  await expectFocus('Person 3')
  await expect.poll(() => link('Person 1').count()).toBe(0)
  await keyboard.press('/')
  await keyboard.type('person d')
  expect(await search.inputValue()).toBe('person d')
  await link('Person 3').waitFor({ state: 'detached' })
  await search.fill('')
  await link('Person 3').click()
  await heading('Person 3').waitFor()
  await keyboard.press('/')
  await expect.poll(() => search.evaluate((field) => field === document.activeElement)).toBe(true)
})

test('after moving through any number of applications by keys, Back returns to the list in one step', async ({
  visitor,
}) => {
  await desk.store(people(4))
  const page = await desk.open(visitor, '/?status=all')
  const { link, heading } = getDesk(page)
  await link('Person 1').click()
  await heading('Person 1').waitFor()
  for (const [key, name] of [
    ['j', 'Person 2'],
    ['j', 'Person 3'],
    ['k', 'Person 2'],
  ] as const) {
    await page.keyboard.press(key)
    await heading(name).waitFor()
  }
  await page.goBack()
  await heading('Applications').waitFor()
  await expect.poll(() => focused(page)).toBe('A: Person 2')
})

test('Enter in the box of a row opens its application', async ({ visitor }) => {
  await desk.store(people(2))
  const page = await desk.open(visitor)
  const { select, heading } = getDesk(page)
  await select('Person 2').focus()
  await page.keyboard.press('Enter')
  await heading('Person 2').waitFor()
})

test('the switch turns single-key shortcuts off, also after a reload, and on again', async ({ visitor }) => {
  const [{ id } = { id: '' }] = await desk.store(people(1))
  const page = await desk.open(visitor, `/applications/${id}`)
  const { button, dialog, pill, status, heading } = getDesk(page)
  const { keyboard } = page
  const shortcutSwitch = dialog.getByLabel('Use single-key shortcuts')
  await pill.waitFor()
  await keyboard.press('?')
  await shortcutSwitch.uncheck()
  await button('Close').click()
  for (const key of ['a', 'z', '?', 'n', '/']) await keyboard.press(key)
  expect(await dialog.count()).toBe(0)
  await page.reload()
  await heading('Person 1').waitFor()
  for (const key of ['a', 'z', '?', 'n', '/']) await keyboard.press(key)
  expect(await dialog.count()).toBe(0)
  expect(await pill.textContent()).toBe('New')
  expect(await desk.sql`select from private.history`).toHaveLength(0)
  await button('Keys').click()
  await shortcutSwitch.check()
  await button('Close').click()
  await keyboard.press('a')
  await expect.poll(() => status.textContent()).toBe('Person 1: Accepted')
})
