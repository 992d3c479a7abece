import type { Page } from 'playwright-core'
import { expect } from 'vitest'

import { people } from '../../support/applicants.ts'
import { deskForTestFile, focused, getDesk } from '../../support/desk-page.ts'
import { test } from '../../support/browser-test.ts'
import { resize } from '../../support/resize.ts'

const desk = deskForTestFile()

const wide = { width: 1440, height: 900 }
const list = (page: Page) => page.locator('.list-screen')
/** Presses a key and waits for this application. */
const pressTo = async (page: Page, key: string, name: string) => {
  await page.keyboard.press(key)
  await getDesk(page).heading(name).waitFor()
}
const hash = (page: Page) => new URL(page.url()).hash

test('the list is beside the application from 1200 px, and the history beside both from 1600 px', async ({
  visitor,
}) => {
  const [{ id } = { id: '' }] = await desk.store(people(3))
  const page = await desk.open(visitor, `/applications/${id}`, { viewport: wide })
  const { heading, link, names } = getDesk(page)
  await heading('Person 1').waitFor()
  // A page opened by its address focuses the heading.
  await expect.poll(() => focused(page)).toBe('H1: Person 1')
  await expect.poll(names).toEqual(['Person 1', 'Person 2', 'Person 3'])
  const readColumns = () =>
    page
      .locator('.list-screen, section[aria-label=Answers], section[aria-labelledby=what-happened]')
      .evaluateAll((parts) => parts.map((part) => Math.round(part.getBoundingClientRect().x)))
  const [first = 0, second = 0, third = 0] = await readColumns()
  expect([first < second, second === third]).toEqual([true, true])
  await resize(page, { width: 1600, height: 900 })
  const columns = await readColumns()
  expect(columns).toEqual(columns.toSorted((one, other) => one - other))
  expect(new Set(columns).size).toBe(3)
  for (const width of [1200, 1199]) {
    await resize(page, { width, height: 900 })
    await expect.poll(() => list(page).count()).toBe(width === 1200 ? 1 : 0)
  }
  await link('Back').click()
  await heading('Applications').waitFor()
  await expect.poll(() => focused(page)).toBe('A: Person 1')
})

test('in the list beside an application j, k, Enter and Esc move the focus, and the scroll position stays', async ({
  visitor,
}) => {
  await desk.store(people(60))
  const page = await desk.open(visitor, '', { viewport: wide })
  const { heading, link, position } = getDesk(page)
  const { keyboard } = page
  await link('Person 2').click()
  await heading('Person 2').waitFor()
  await expect.poll(() => focused(page)).toBe('A: Person 2')
  const entries = await page.evaluate(() => history.length)
  for (const [key, name] of [
    ['j', 'Person 3'],
    ['j', 'Person 4'],
    ['k', 'Person 3'],
  ] as const) {
    await pressTo(page, key, name)
    await expect.poll(() => focused(page)).toBe(`A: ${name}`)
  }
  expect(await page.evaluate(() => history.length)).toBe(entries)
  await expect.poll(() => position.textContent()).toBe('3 of 60, 60 to read')
  await keyboard.press('Enter')
  await expect.poll(() => focused(page)).toBe('H1: Person 3')
  // Enter moved the focus into the application. The next j or k moves it back to the list.
  for (const [key, name] of [
    ['j', 'Person 4'],
    ['k', 'Person 3'],
  ] as const) {
    await pressTo(page, key, name)
    await expect.poll(() => focused(page)).toBe(`A: ${name}`)
  }
  for (let number = 4; number <= 30; number += 1) {
    await pressTo(page, 'j', `Person ${number}`)
  }
  const scrolled = await list(page).evaluate((part) => part.scrollTop)
  expect(scrolled).toBeGreaterThan(0)
  await keyboard.press('n')
  await keyboard.type('Half a thought')
  await keyboard.press('Escape')
  await pressTo(page, 'j', 'Person 31')
  await pressTo(page, 'k', 'Person 30')
  expect(await getDesk(page).note.inputValue()).toBe('Half a thought')
  expect(Math.abs((await list(page).evaluate((part) => part.scrollTop)) - scrolled)).toBeLessThan(120)
  await keyboard.press('Escape')
  await heading('Applications').waitFor()
  await expect.poll(() => focused(page)).toBe('A: Person 30')
  expect(hash(page)).toBe('#/')
})

test('if the tabs do not fit, the open tab is visible, and rows do not repeat the status of their tab', async ({
  visitor,
}) => {
  const stored = await desk.store(people(2))
  await desk.setStatus(stored, 'declined')
  const page = await desk.open(visitor, '/?status=declined', { viewport: wide })
  const { heading, link, tab, row } = getDesk(page)
  await link('Person 1').click()
  await heading('Person 1').waitFor()
  const [tabs, openTab] = await Promise.all([
    page.getByRole('navigation', { name: 'Status' }).boundingBox(),
    tab('Declined').boundingBox(),
  ])
  expect(openTab?.x).toBeGreaterThanOrEqual(tabs?.x ?? NaN)
  const rightOf = (box: typeof tabs) => Math.floor((box?.x ?? NaN) + (box?.width ?? NaN))
  expect(rightOf(openTab)).toBeLessThanOrEqual(rightOf(tabs))
  const pill = row('Person 2').locator('.decisions-pill')
  const widthOfPill = async () => (await pill.boundingBox())?.width
  expect(await pill.textContent()).toBe('Declined')
  // A status that the tab already names is visually hidden, 1 px wide.
  expect(await widthOfPill()).toBe(1)
  await row('Person 2').getByRole('checkbox').check()
  // For a moment, the page still has the bar of the open application, too.
  await page.getByRole('region', { name: 'Decide: Person 2' }).getByRole('button', { name: 'Accept' }).click()
  await expect.poll(widthOfPill).toBeGreaterThan(40)
})

test('the list loads more before its end is reached, so that a fast reader need not wait', async ({
  visitor,
}) => {
  await desk.store(people(60))
  const page = await desk.open(visitor, '', { viewport: wide })
  const { heading, link, names } = getDesk(page)
  await link('Person 40').click()
  await heading('Person 40').waitFor()
  expect(await names()).toHaveLength(50)
  await page.keyboard.press('j')
  await expect.poll(names).toHaveLength(60)
})

test('keys decide on the ticked rows, which the bar counts, and without ticks on the open application', async ({
  visitor,
}) => {
  const [first, second, third] = await desk.store(people(3))
  const page = await desk.open(visitor, `/applications/${first?.id}`, { viewport: wide })
  const { heading, bar, select, status } = getDesk(page)
  const { keyboard } = page
  await heading('Person 1').waitFor()
  await select('Person 2').check()
  await select('Person 3').check()
  await bar.getByText('2 selected').waitFor()
  expect(await bar.count()).toBe(1)
  await keyboard.press('w')
  await expect.poll(() => status.textContent()).toBe('2 applications: Waitlisted')
  await bar.getByText('Person 1', { exact: true }).waitFor()
  await keyboard.press('s')
  await expect.poll(() => status.textContent()).toBe('Person 1: Shortlisted')
  const statuses = await Promise.all([first, second, third].map((each) => desk.statusOf(each?.id ?? '')))
  expect(statuses).toEqual(['shortlisted', 'waitlisted', 'waitlisted'])
  // Esc first clears the ticks, then leaves the application.
  await select('Person 3').check()
  await keyboard.press('Escape')
  expect(await select('Person 3').isChecked()).toBe(false)
  await heading('Person 1').waitFor()
  await keyboard.press('Escape')
  await heading('Applications').waitFor()
})

test.for([wide, { width: 1100, height: 700 }, { width: 390, height: 844 }])(
  'with “Go on”, a decision opens the next application of the list, and Undo goes back (%s)',
  async (viewport, { visitor }) => {
    const stored = await desk.store(people(5))
    const page = await desk.open(visitor, '', { viewport })
    const { heading, link, status, position } = getDesk(page)
    const { keyboard } = page
    await link('Person 1').waitFor()
    await link('Person 1').click()
    await heading('Person 1').waitFor()
    await page.getByLabel('Go on').check()
    await heading('Person 1').focus()
    await expect.poll(() => position.textContent()).toBe('1 of 5, 5 to read')
    await pressTo(page, 'd', 'Person 2')
    await expect.poll(() => position.textContent()).toBe('2 of 5, 4 to read')
    await pressTo(page, 'j', 'Person 3')
    await pressTo(page, 'a', 'Person 4')
    await pressTo(page, 'k', 'Person 3')
    await pressTo(page, 'k', 'Person 2')
    // Person 3 already has a decision.
    await pressTo(page, 'w', 'Person 4')
    await expect.poll(() => status.textContent()).toBe('Person 2: Waitlisted')
    await pressTo(page, 'z', 'Person 2')
    await expect.poll(() => position.textContent()).toBe('2 of 5, 3 to read')
    // “Reset to New” is not a decision, so the application stays open.
    await pressTo(page, 'w', 'Person 4')
    await pressTo(page, 'k', 'Person 3')
    await pressTo(page, 'k', 'Person 2')
    await keyboard.press('r')
    await expect.poll(() => status.textContent()).toBe('Person 2: New')
    await heading('Person 2').waitFor()
    await expect
      .poll(() => Promise.all(stored.map(({ id }) => desk.statusOf(id))))
      .toEqual(['declined', 'new', 'accepted', 'new', 'new'])
  },
)

test('an erased applicant leaves the list beside the application at once', async ({ visitor }) => {
  const [, second] = await desk.store(people(3))
  const page = await desk.open(visitor, '', { viewport: wide })
  const { button, dialog, heading, link, names } = getDesk(page)
  await link('Person 2').click()
  await heading('Person 2').waitFor()
  await button('Erase').click()
  await dialog.getByLabel(/^Type the email/).fill(second?.email ?? '')
  // The list is not read again.
  await page.route('**/rpc/desk_list', () => {})
  await button('Erase for good').click()
  await heading('Applications').waitFor()
  await expect.poll(names).toEqual(['Person 1', 'Person 3'])
  await expect.poll(() => focused(page)).toBe('H1: Applications')
})

test('a click anywhere in a row opens the application, except on its box or to select text', async ({
  visitor,
}) => {
  await desk.store(people(2))
  const page = await desk.open(visitor, '', { viewport: { width: 1100, height: 700 } })
  const { heading, link, select } = getDesk(page)
  const company = page.locator('tbody tr', { has: link('Person 2') }).locator('.rows-company')
  await select('Person 2').check()
  expect(hash(page)).toBe('')
  const { x = 0, y = 0 } = (await company.locator('bdi').boundingBox()) ?? {}
  await page.mouse.move(x + 2, y + 5)
  await page.mouse.down()
  await page.mouse.move(x + 60, y + 5)
  await page.mouse.up()
  expect(await page.evaluate(() => getSelection()?.toString())).not.toBe('')
  expect(hash(page)).toBe('')
  await page.evaluate(() => getSelection()?.removeAllRanges())
  await company.click()
  await heading('Person 2').waitFor()
})

test('on a phone the reason gets seven tenths of the window', async ({ visitor }) => {
  const [{ id } = { id: '' }] = await desk.store(people(2))
  const page = await desk.open(visitor, `/applications/${id}`, { viewport: { width: 390, height: 844 } })
  await getDesk(page).heading('Person 1').waitFor()
  await getDesk(page).button('Accept').waitFor()
  const share = await page.evaluate(() => {
    const reason = document.querySelector('.application-long dd')?.getBoundingClientRect().top ?? 0
    return (
      ((document.querySelector('.decisions-bar')?.getBoundingClientRect().top ?? 0) - reason) / innerHeight
    )
  })
  console.log(`the reason has ${(share * 100).toFixed(1)} % of the window`)
  expect(share).toBeGreaterThanOrEqual(0.7)
})

test('on a phone the four decisions are one row, and no button of the bar overlaps another', async ({
  visitor,
}) => {
  const [undecided = { id: '' }, , decided = { id: '' }] = await desk.store(people(3))
  await desk.setStatus([decided], 'accepted')
  const viewport = { width: 390, height: 844 }
  const page = await desk.open(visitor, `/applications/${undecided.id}`, { viewport })
  const { heading, link, select, button } = getDesk(page)
  const bar = page.locator('.decisions-bar')
  const expectFit = async () => {
    const boxes = await bar.getByRole('button').evaluateAll((buttons) =>
      buttons.map((each) => {
        const { left, right, top, bottom } = each.getBoundingClientRect()
        return { words: each.textContent ?? '', left, right, top, bottom }
      }),
    )
    const overlaps = boxes.flatMap((one, index) =>
      boxes
        .slice(index + 1)
        .filter((other) => one.left < other.right && other.left < one.right)
        .filter((other) => one.top < other.bottom && other.top < one.bottom)
        .map((other) => `${one.words} overlaps ${other.words}`),
    )
    const rows = new Set(
      boxes.filter(({ words }) => /^(Shortlist|Accept|Waitlist|Decline)$/.test(words)).map(({ top }) => top),
    )
    expect({ overlaps, rows: rows.size }).toEqual({ overlaps: [], rows: 1 })
  }
  await heading('Person 1').waitFor()
  await button('Accept').waitFor()
  await expectFit()
  await page.goto(`${desk.origin}/desk#/?status=all`)
  await link('Person 1').waitFor()
  await select('Person 1').check()
  await button('Draft letters…').waitFor()
  await expectFit()
  await select('Person 3').check()
  await button('Reset to New').waitFor()
  await expectFit()
})

test('the first visit shows hints, even before the script has loaded, until they are dismissed for good', async ({
  visitor,
}) => {
  await desk.store(people(1))
  const page = await desk.open(visitor, '', {
    prepare: (opened) =>
      opened.addInitScript(() => {
        if (window.name === 'was here') return
        window.name = 'was here'
        localStorage.removeItem('unplugged-desk-welcome')
      }),
  })
  const steps = page.getByRole('region', { name: 'First steps' })
  await steps.getByText('Read every template').waitFor()
  await steps.getByRole('button', { name: 'Hide the list' }).click()
  await steps.waitFor({ state: 'detached' })
  await expect.poll(() => focused(page)).toBe('H1: Applications')
  await page.reload()
  await getDesk(page).link('Person 1').waitFor()
  expect(await steps.count()).toBe(0)
})
