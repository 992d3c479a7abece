import type { Page } from 'playwright-core'
import { expect } from 'vitest'

import { people } from '../../support/applicants.ts'
import { deskForTestFile, focused, getDesk } from '../../support/desk-page.ts'
import { extent } from '../../support/quick-or-long.ts'
import { makeUnsavedDecisions, openApplication, storeExtremes } from '../../support/extreme-states.ts'
import { test } from '../../support/browser-test.ts'
import { refresh } from '../../support/refresh.ts'

const failedRequest = /Failed to load resource/

const desk = deskForTestFile()

/** A window in which an application replaces the list. */
const withoutListBeside = { width: 1100, height: 720 }

test.for(
  extent<[number, number][]>({
    quick: [[320, 256]],
    long: [
      [320, 640],
      [320, 256],
      [1440, 800],
    ],
  }),
)(
  'the focused element is never behind the bar at the foot (%d x %d)',
  async ([width, height], { visitor }) => {
    visitor.allowConsoleError(failedRequest)
    await storeExtremes(desk)
    const page = await desk.open(visitor, '/?status=all', { viewport: { width, height } })
    await getDesk(page).link('Ada Lovelace').waitFor()
    /** Tabs through the page, and returns the focused elements that were not visible. */
    const hiddenFocusStops = async (key: string) => {
      const problems: string[] = []
      for (let step = 0; step < 45; step += 1) {
        await page.keyboard.press(key)
        const problem = await page.evaluate(async () => {
          // Wait until the page has scrolled to the element.
          await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
          const element = document.activeElement
          if (!element || element === document.body || element.closest('.decisions-bar')) return ''
          const { left, right, top, bottom } = element.getBoundingClientRect()
          const x = Math.min(Math.max((left + right) / 2, 0), innerWidth - 1)
          const [from, to] = [Math.max(top, 0), Math.min(bottom, innerHeight)]
          const isSeen =
            to - from >= Math.min(bottom - top, 20) - 0.5 &&
            [from + 2, (from + to) / 2, to - 2].every((y) => {
              const shown = document.elementFromPoint(x, y)
              return shown !== null && !shown.closest('.decisions-bar, .desk-problems:not(:has(:focus))')
            })
          return isSeen ? '' : `${element.outerHTML.slice(0, 80)} ${Math.round(top)} to ${Math.round(bottom)}`
        })
        if (problem !== '') problems.push(problem)
      }
      return problems
    }
    await page.getByLabel('Select all shown').check()
    await getDesk(page).bar.waitFor()
    expect(await hiddenFocusStops('Tab')).toEqual([])
    expect(await hiddenFocusStops('Shift+Tab')).toEqual([])
    await page.getByLabel('Select all shown').uncheck()
    await makeUnsavedDecisions(page)
    expect(await hiddenFocusStops('Tab')).toEqual([])
    expect(await hiddenFocusStops('Shift+Tab')).toEqual([])
    await openApplication(page, 'Ada Lovelace')
    expect(await hiddenFocusStops('Tab')).toEqual([])
    expect(await hiddenFocusStops('Shift+Tab')).toEqual([])
  },
)

test('on a phone all buttons of the bar are within reach at every scroll position', async ({ visitor }) => {
  await storeExtremes(desk)
  const page = await desk.open(visitor, '/?status=all', { viewport: { width: 390, height: 844 } })
  await openApplication(page, 'Ada Lovelace')
  const areButtonsInReach = () =>
    page.locator('.decisions-bar :is(button, a):visible').evaluateAll((buttons) =>
      buttons.map((each) => {
        const { left, right, top, bottom } = each.getBoundingClientRect()
        return left >= 0 && right <= innerWidth && top >= innerHeight / 2 && bottom <= innerHeight
      }),
    )
  expect(await areButtonsInReach()).toEqual(Array(6).fill(true))
  const scrollToEnd = () => page.evaluate(() => scrollTo(0, document.body.scrollHeight))
  await scrollToEnd()
  expect(await areButtonsInReach()).toEqual(Array(6).fill(true))
  // At the end of the page, the last button is above the bar, even if parts of the page load late.
  await expect
    .poll(async () => {
      await scrollToEnd()
      const erase = await getDesk(page).button('Erase').boundingBox()
      const bar = await getDesk(page).bar.boundingBox()
      return (erase?.y ?? 0) + (erase?.height ?? 0) <= (bar?.y ?? 0)
    })
    .toBe(true)
})

test('with reduced motion an announcement appears without motion, and disappears automatically', async ({
  visitor,
}) => {
  await storeExtremes(desk)
  for (const reducedMotion of ['reduce', 'no-preference'] as const) {
    const page = await desk.open(visitor, '/?status=all', { reducedMotion })
    await openApplication(page, 'Ada Lovelace')
    await getDesk(page)
      .button(reducedMotion === 'reduce' ? 'Decline' : 'Waitlist')
      .click()
    await getDesk(page).undo.click()
    const announcement = getDesk(page).status.getByText(/^Undone: /)
    await announcement.waitFor()
    const opacities = await announcement.evaluate((element) => {
      const [animation] = element.getAnimations()
      return [0, 3_000, 5_500, 6_000].map((time) => {
        if (animation) animation.currentTime = time
        return getComputedStyle(element).opacity
      })
    })
    expect(opacities.at(-1)).toBe('0')
    expect(opacities.slice(0, 2)).toEqual(['1', '1'])
    const steps = await announcement.evaluate((element) => getComputedStyle(element).animationTimingFunction)
    expect(steps).toBe(reducedMotion === 'reduce' ? 'steps(1)' : 'ease')
  }
})

test('the focus moves to an opened screen, back to its row, and to the next element when a button disappears', async ({
  visitor,
}) => {
  await desk.store([
    ...people(58),
    { first_name: 'Ada', last_name: 'L', email: 'ada@example.com' },
    { first_name: 'Ada', last_name: 'B', company: 'Looms' },
  ])
  const prepare = (opened: Page) => opened.clock.install()
  const page = await desk.open(visitor, '', { prepare, viewport: withoutListBeside })
  const { link, button, heading, dialog, names, status, select, search, undo } = getDesk(page)
  const expectFocus = async (text: string) => {
    await expect.poll(() => focused(page)).toBe(text)
  }
  await link('Person 30').click()
  await expectFocus('H1: Person 30')
  expect(await page.evaluate(() => scrollY)).toBe(0)
  await link('Next').click()
  await expectFocus('H1: Person 31')
  await link('Back').click()
  await expectFocus('A: Person 31')
  await page.goBack()
  await expectFocus('H1: Person 31')
  await page.goForward()
  await expectFocus('A: Person 31')

  await button('More').focus()
  await page.keyboard.press('Enter')
  await expectFocus('A: Person 51')
  await expect.poll(names).toHaveLength(60)

  await button('Keys').click()
  await dialog.waitFor()
  await page.keyboard.press('Escape')
  await expectFocus('BUTTON: Keys')

  await search.fill('looms')
  await expect.poll(names).toEqual(['Ada B'])
  await expectFocus('INPUT: Search')
  // The list reloads as many rows as it had before the search.
  const listResponse = page.waitForResponse(
    (response) => response.url().endsWith('desk_list') && response.request().postDataJSON().most === 60,
  )
  await button('Clear').click()
  await expectFocus('INPUT: Search')
  await listResponse
  await expect.poll(names).toHaveLength(60)

  await select('Ada B').check()
  await button('Accept').click()
  await expect.poll(() => status.textContent()).toBe('Ada B: Accepted')
  await undo.click()
  await expect.poll(() => status.textContent()).toBe('Undone: Ada B is New again')
  await expectFocus('H1: Applications')

  await desk.store([{ first_name: 'Late', last_name: 'One', created_at: new Date() }])
  await refresh(page)
  await button('1 new').click()
  await expectFocus('H1: Applications')

  await link('Late One').click()
  await expectFocus('H1: Late One')
  await button('Erase').click()
  await dialog.waitFor()
  await expect.poll(() => focused(page)).toMatch(/^INPUT: Type the email/)
  await button('Cancel').click()
  await expectFocus('BUTTON: Erase')
  await page.keyboard.press('Enter')
  const [{ email } = { email: '' }] = await desk.sql<{ email: string }[]>`
    select email from public.retreat_applications where first_name = 'Late'`
  await page.keyboard.type(email)
  await page.keyboard.press('Enter')
  await expect.poll(() => status.textContent()).toBe('Late One: erased')
  await heading('Applications').waitFor()
  await expectFocus('H1: Applications')
})

test('after a conflict is resolved the focus is on its application', async ({ visitor }) => {
  const [first, second] = await desk.store(people(3))
  const page = await desk.open(visitor, '', { viewport: withoutListBeside })
  const { select, button, alert, link, note } = getDesk(page)
  const expectFocus = async (text: string) => {
    await expect.poll(() => focused(page)).toBe(text)
  }
  await select('Person 1').check()
  await desk.setStatus(first ? [first] : [], 'declined', desk.bob)
  await button('Accept').click()
  await button('Accept anyway').click()
  await expectFocus('A: Person 1')
  await expect.poll(() => alert.count()).toBe(0)
  await link('Person 2').click()
  await note.waitFor()
  await desk.setStatus(second ? [second] : [], 'declined', desk.bob)
  await button('Accept').click()
  await button('Leave it Declined').click()
  await expectFocus('H1: Person 2')
})

test('an organiser searches, selects, decides and notes by keyboard alone, without single-key shortcuts', async ({
  visitor,
}) => {
  await storeExtremes(desk)
  const page = await desk.open(visitor, '', {
    viewport: { width: 1280, height: 720 },
    prepare: (opened) => opened.addInitScript(() => localStorage.setItem('unplugged-desk-keys', 'off')),
  })
  const { keyboard } = page
  const { heading, status, names, timeline, link, dialog, tab, tabs } = getDesk(page)
  const expectAnnouncement = async (text: string) => {
    await expect.poll(() => status.textContent()).toBe(text)
  }
  /** Presses a key until the named element has the focus, at most 80 times. */
  const tabTo = async (name: string, key = 'Tab') => {
    const stops: string[] = []
    while (stops.at(-1) !== name && stops.length < 80) {
      await keyboard.press(key)
      stops.push(await focused(page))
    }
    expect(stops.at(-1)).toBe(name)
  }
  await link('Person 1').waitFor()
  await tabTo('A: Skip to the content')
  await keyboard.press('Enter')
  await tabTo('A: New 6')
  await tabTo(`A: ${(await tabs()).at(-1)}`)
  await keyboard.press('Enter')
  await expect.poll(() => tab('All').getAttribute('aria-current')).toBe('page')
  await tabTo('INPUT: Search')
  await keyboard.type('looms')
  await expect.poll(names).toEqual(['Ada L'])
  await tabTo('INPUT: Select Ada L')
  await keyboard.press('Space')
  await tabTo('BUTTON: Shortlist')
  await keyboard.press('Enter')
  await expectAnnouncement('Ada L: Shortlisted')
  await tabTo('A: Ada L', 'Shift+Tab')
  await keyboard.press('Enter')
  await heading('Ada L').waitFor()
  await expect.poll(() => focused(page)).toBe('H1: Ada L')
  await tabTo('TEXTAREA: Note')
  await keyboard.type('Ask her.')
  await tabTo('BUTTON: Add note')
  await keyboard.press('Enter')
  await expectAnnouncement('Note added')
  await expect.poll(() => timeline.last().textContent()).toContain('Ask her.')
  await tabTo('BUTTON: Decline')
  await keyboard.press('Enter')
  await expectAnnouncement('Ada L: Declined')
  await tabTo('BUTTON: Undo: Ada L, Declined')
  await keyboard.press('Space')
  await expectAnnouncement('Undone: Ada L is Shortlisted again')
  await tabTo('BUTTON: Erase', 'Shift+Tab')
  await keyboard.press('Enter')
  await dialog.waitFor()
  await tabTo('INPUT: Type the email, ADA@example.com')
  await keyboard.type('ada@example.com')
  await keyboard.press('Enter')
  await expectAnnouncement('Ada L: erased')
  await page.getByText('No application matches.').waitFor()
})
