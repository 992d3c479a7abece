import { releaseDrafts } from '../../support/letters.ts'
import { expect } from 'vitest'

import { send } from '../../support/send-application.ts'
import { unreadableDisabled } from '../../support/disabled-contrast.ts'
import { people } from '../../support/applicants.ts'
import { deskForTestFile, focused, getDesk } from '../../support/desk-page.ts'
import { anApplication } from '../../support/form.ts'
import { test } from '../../support/browser-test.ts'
import { refresh, settle } from '../../support/refresh.ts'
import { resize } from '../../support/resize.ts'

const desk = deskForTestFile()

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

test('very long texts show their beginning, and everything on request; the length of the text in the layout is bounded', async ({
  visitor,
}) => {
  const marks = `a${'\u0301'.repeat(9_999)}`
  const reasons = {
    word: 'xع'.repeat(50_000),
    lines: 'To think.\n'.repeat(10_000),
    ends: `Begin.${'\n'.repeat(99_994)}`,
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
  const mark = { act: crypto.randomUUID(), application: stored?.id, mark: 'yes', why: 'Knows what to leave.' }
  await desk.ada.client.rpc('desk_mark', mark).throwOnError()
  await releaseDrafts(desk.sql, { state: 'done', subject: 'Come', body: 'And bring bees.' })
  const page = await desk.open(visitor, `/applications/${stored?.id}?status=all`)
  const { note, heading, timeline } = getDesk(page)
  await note.waitFor()
  const bees = timeline.getByText('And bring bees.')
  expect(await bees.isVisible()).toBe(false)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ media: 'print', colorScheme })
    await heading('Ada L').waitFor()
    const mine = 'Yes ada@example.org: Knows what to leave.'
    for (const text of [end, 'Ask her.', 'And bring bees.', 'Looms', mine])
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
    await button('Shortlist').waitFor()
    await settle(page)
    const before = await buttonPositions()
    const [label, status] = index % 2 === 0 ? ['Waitlist', 'Waitlisted'] : ['Shortlist', 'Shortlisted']
    await button(label).dblclick()
    await expect.poll(() => pill.textContent()).toBe(status)
    expect(await buttonPositions()).toEqual(before)
  }
})

test('a double click on “Decide” shows the decisions and the marks again, and decides nothing', async ({
  visitor,
}) => {
  const stored = await desk.store(people(2))
  const mark = { act: crypto.randomUUID(), application: stored[1]?.id, mark: 'yes', why: '' }
  await desk.bob.client.rpc('desk_mark', mark).throwOnError()
  const page = await desk.open(visitor, `/applications/${stored[0]?.id}`)
  const { button, bar } = getDesk(page)
  for (const status of ['new', 'shortlisted']) {
    if (status === 'shortlisted') await desk.setStatus(stored.slice(0, 1), status)
    for (const width of [1920, 1280, 800, 390, 360]) {
      await resize(page, { width, height: 720 })
      await page.reload()
      await button('Decide').waitFor()
      await settle(page)
      const { x = 0, y = 0, width: extent = 0 } = (await button('Decide').boundingBox()) ?? {}
      const tap = () => page.mouse.click(x + extent / 2, y + 20)
      await tap()
      await bar.getByRole('button', { name: 'Accept' }).waitFor()
      await tap()
      await bar.getByRole('button', { name: 'Maybe' }).waitFor()
    }
    expect(await desk.statusOf(stored[0]?.id ?? '')).toBe(status)
  }
})

test('on a phone “Filters” keeps its position when it is pressed and when its number changes', async ({
  visitor,
}) => {
  await desk.store(people(3))
  const page = await desk.open(visitor, '', { viewport: { width: 360, height: 740 } })
  const filters = page.getByRole('button', { name: /^Filters/ })
  /** Where it is in the page, since a field that takes the focus may scroll. */
  const position = () =>
    filters.evaluate((button) => {
      const { x, y, width, height } = button.getBoundingClientRect()
      return { x, y: y + scrollY, width, height }
    })
  await getDesk(page).link('Person 1').waitFor()
  await settle(page)
  const before = await position()
  await filters.click()
  await page.getByLabel('Applied from').waitFor()
  expect(await position()).toEqual(before)
  await page.getByLabel('Applied from').fill('2020-01-01')
  await page.getByRole('button', { name: 'Filters (1)' }).waitFor()
  expect(await position()).toEqual(before)
})

test('the second click of a double click does not act on the next application', async ({ visitor }) => {
  const stored = await desk.store(people(2))
  const page = await desk.open(visitor)
  const { button, heading, link } = getDesk(page)
  await link('Person 1').waitFor()
  await link('Person 1').click()
  await heading('Person 1').waitFor()
  await page.getByLabel('Go on').check()
  await button('Accept').dblclick()
  await heading('Person 2').waitFor()
  await button('Undo: Person 1, Accepted').waitFor()
  await expect.poll(() => Promise.all(stored.map(({ id }) => desk.statusOf(id)))).toEqual(['accepted', 'new'])
})

// break: second-tap-decides
test('the second tap of a double tap does not act on the next application, where clicks are not counted', async ({
  visitor,
}) => {
  const stored = await desk.store(people(3))
  const page = await desk.open(visitor, '', { viewport: { width: 390, height: 844 }, hasTouch: true })
  const { button, heading, link } = getDesk(page)
  // As Safari on iPhones reports them, 100 ms apart, and later ones a second.
  await page.evaluate(() => {
    const moments = [1_000, 1_100, 2_000]
    const report = (event: MouseEvent) => {
      Object.defineProperty(event, 'detail', { value: 1 })
      Object.defineProperty(event, 'timeStamp', { value: moments.shift() })
    }
    const accepts = (event: MouseEvent) =>
      event.target instanceof Element &&
      event.target.closest('button')?.textContent === 'Accept' &&
      report(event)
    addEventListener('click', accepts, true)
  })
  await link('Person 1').tap()
  await heading('Person 1').waitFor()
  await page.getByLabel('Go on').check()
  await button('Accept').tap()
  await heading('Person 2').waitFor()
  await button('Accept').tap()
  await button('Accept').tap()
  await heading('Person 3').waitFor()
  await expect
    .poll(() => Promise.all(stored.map(({ id }) => desk.statusOf(id))))
    .toEqual(['accepted', 'accepted', 'new'])
})

test('the row that keys act on is highlighted, also when the focus is elsewhere', async ({ visitor }) => {
  await desk.store(people(2))
  const page = await desk.open(visitor)
  const { link, search } = getDesk(page)
  await link('Person 1').waitFor()
  await page.keyboard.press('j')
  await expect.poll(() => focused(page)).toBe('A: Person 1')
  await search.focus()
  const highlights = page
    .locator('tbody tr td:first-child')
    .evaluateAll((cells) => cells.map((cell) => getComputedStyle(cell).boxShadow))
  expect(await highlights).toEqual([expect.stringMatching(/inset$/), 'none'])
})

test('Escape closes the dialog of keys and nothing else, and keys do nothing in it or together with Control', async ({
  visitor,
}) => {
  const [{ id } = { id: '' }] = await desk.store(people(1))
  const page = await desk.open(visitor, `/applications/${id}`)
  const { dialog, heading, pill, status } = getDesk(page)
  await pill.waitFor()
  await page.keyboard.press('?')
  await dialog.waitFor()
  await page.keyboard.press('d')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })
  expect(await heading('Person 1').count()).toBe(1)
  await page.keyboard.press('Control+a')
  await page.keyboard.press('s')
  await expect.poll(() => status.textContent()).toBe('Person 1: Shortlisted')
  expect(await desk.sql`select detail ->> 'status' as status from private.history`).toEqual([
    { status: 'shortlisted' },
  ])
})

test('Enter in the box of a row opens its application', async ({ visitor }) => {
  await desk.store(people(2))
  const page = await desk.open(visitor)
  const { select, heading } = getDesk(page)
  await select('Person 2').focus()
  await page.keyboard.press('Enter')
  await heading('Person 2').waitFor()
})

test('the words of a disabled button can be read, light and dark', async ({ visitor }) => {
  await desk.store(people(1))
  const page = await desk.open(visitor)
  const { button, select } = getDesk(page)
  await select('Person 1').check()
  await button('Draft letters…').click()
  // No template is chosen yet.
  const draft = page.locator('[aria-disabled=true]', { hasText: 'Draft 1 letter' })
  await draft.waitFor()
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    for (const point of [() => draft.hover(), () => page.mouse.move(0, 0)]) {
      await point()
      await expect.poll(() => unreadableDisabled(page)).toEqual([])
    }
  }
})

test('each screen has the edges of the header, whatever the width of the window', async ({ visitor }) => {
  const [{ id } = { id: '' }] = await desk.store(people(3))
  // The history of the desk begins with something.
  for (const blind of [true, false]) await desk.ada.client.rpc('desk_set_blind', { blind }).throwOnError()
  const screens = ['', `/applications/${id}`, '/coming', '/retreat', '/page', '/questions', '/door']
  const others = [
    '/retention',
    '/retreats',
    '/history',
    '/first-steps',
    '/letters',
    '/letters/templates/accepted',
  ]
  const page = await desk.open(visitor)
  for (const path of [...screens, ...others, '/account']) {
    await page.goto(`${desk.origin}/desk#${path}`)
    await page.locator('#content .layout-sheet').first().waitFor()
    for (const width of [390, 768, 1366, 1920, 2560]) {
      await resize(page, { width, height: 900 })
      const edgesOf = (selector: string) =>
        page.locator(selector).evaluateAll((all) => {
          const boxes = all.map((each) => each.getBoundingClientRect()).filter((box) => box.width > 0)
          const edges = [
            Math.min(...boxes.map((box) => box.left)),
            Math.max(...boxes.map((box) => box.right)),
          ]
          return [...edges.map(Math.round), document.documentElement.scrollWidth <= innerWidth]
        })
      const header = await edgesOf('.desk-top')
      // Between one column and two, an application appears again.
      await expect
        .poll(() => edgesOf('#content .layout-sheet'), { message: `${path} at ${width} px` })
        .toEqual(header)
    }
  }
})
