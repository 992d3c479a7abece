import { expect } from 'vitest'

import { serverForTestFile } from '../../support/server-for-test-file.ts'
import { anApplication, getForm } from '../../support/form.ts'
import { holdRequests } from '../../support/held-requests.ts'
import { disableBackOff } from '../../support/without-back-off.ts'
import { formStates } from '../../support/form-states.ts'
import { reconnect, test, waitForTakeOver, type Visitor } from '../../support/browser-test.ts'

const server = serverForTestFile()

test('the green box disappears when the browser refuses the next send', async ({ visitor }) => {
  visitor.allowConsoleError(/409/)
  const page = await visitor.open(server.origin)
  const form = getForm(page)
  await formStates['success']?.(page)
  await form.button.click()
  await form.success.waitFor({ state: 'detached' })
  expect(await form.firstName.evaluate((field) => field === document.activeElement)).toBe(true)
  expect(await form.button.isEnabled()).toBe(true)
  await form.fill(anApplication())
  await form.button.click()
  await form.success.waitFor()
})

/** Sends natively: the browser posts the form, because the script fails. Returns the resulting page, whose script fails, too. */
async function sentNatively(visitor: Visitor) {
  visitor.allowConsoleError(/Failed to load resource|ERR_FAILED/)
  const page = await visitor.open(server.origin, {}, (opened) =>
    opened.route('**/assets/**', (route) => route.abort()),
  )
  const form = getForm(page)
  await form.fill(anApplication())
  await form.button.click()
  await form.success.waitFor()
  return page
}

test('after a native send the green box disappears when the next send is refused, and stays away once the script has taken over', async ({
  visitor,
}) => {
  const page = await sentNatively(visitor)
  const form = getForm(page)
  await form.button.click()
  await form.success.waitFor({ state: 'detached' })
  await page.unroute('**/assets/**')
  await waitForTakeOver(page)
  expect(await form.success.count()).toBe(0)
  await form.fill(anApplication())
  await form.button.click()
  await form.success.waitFor()
})

test('a visitor who types on the page after a native send keeps the focus when the script loads', async ({
  visitor,
}) => {
  const page = await sentNatively(visitor)
  const form = getForm(page)
  const release = await holdRequests(page, '**/assets/**')
  // The box may have requested the script already, since the browser focuses it.
  await form.firstName.click()
  await page.keyboard.type('abc')
  release()
  await waitForTakeOver(page)
  await page.keyboard.type('def')
  expect(await form.firstName.inputValue()).toBe('abcdef')
})

test.for([
  [390, 844],
  [1366, 650],
] as const)(
  'after a send the thanks are visible, with an empty form below them (%i x %i)',
  async ([width, height], { visitor }) => {
    const page = await visitor.open(server.origin, {
      viewport: { width, height },
      reducedMotion: 'no-preference',
    })
    const form = getForm(page)
    await form.fill(anApplication())
    await form.button.click()
    await form.success.waitFor()
    const box = page.locator('.success')
    const inSight = () =>
      box.evaluate((element) => {
        const { top, bottom } = element.getBoundingClientRect()
        return top >= 0 && bottom <= window.innerHeight && document.activeElement === element
      })
    await expect.poll(inSight).toBe(true)
    // The animation never covers the words, and the background behind them does not move.
    const animationBounds = await box.evaluate((element) => {
      const hills = element.querySelector('.hills')
      const words = element.querySelector('h2')
      if (!hills || !words) return undefined
      return {
        overflow: getComputedStyle(hills).overflow,
        isApart: hills.getBoundingClientRect().bottom <= words.getBoundingClientRect().top,
        animationsOutsideTheHills: [element, ...element.querySelectorAll('.near, h2, p')].flatMap((each) =>
          each.getAnimations(),
        ).length,
      }
    })
    expect(animationBounds).toEqual({ overflow: 'hidden', isApart: true, animationsOutsideTheHills: 0 })
    const below = await form.firstName.boundingBox()
    expect(below?.y).toBeGreaterThan((await box.boundingBox())?.y ?? Infinity)
    expect(await form.firstName.inputValue()).toBe('')
  },
)

test('after a reload one line says at what time this browser sent an application, until the first key press', async ({
  visitor,
}) => {
  const page = await visitor.open(server.origin)
  const form = getForm(page)
  await form.fill(anApplication())
  await form.button.click()
  await form.success.waitFor()
  await page.reload()
  const line = page.getByText(/^Sent at \d\d:\d\d from this browser$/)
  await line.waitFor()
  const inSight = () =>
    line.evaluate((element) => {
      const { top, bottom } = element.getBoundingClientRect()
      return top >= 0 && bottom <= window.innerHeight
    })
  await expect.poll(inSight).toBe(true)
  expect(await form.success.count()).toBe(0)
  expect(await form.firstName.inputValue()).toBe('')
  await page.reload()
  await line.waitFor()
  await form.firstName.press('A')
  await line.waitFor({ state: 'detached' })
  await page.reload()
  await waitForTakeOver(page)
  expect(await form.firstName.inputValue()).toBe('A')
  expect(await line.count()).toBe(0)
})

test.for([true, false])(
  'offline, a visitor reads what to do next, and whether the browser stores the answers (stored: %s)',
  async (isStored, { visitor }) => {
    visitor.allowConsoleError(/Failed to load resource/)
    const page = await visitor.open(server.origin, {}, async (opened) => {
      if (isStored) return
      await opened.addInitScript(() => {
        Storage.prototype.setItem = () => {
          throw new DOMException('full', 'QuotaExceededError')
        }
      })
    })
    await waitForTakeOver(page)
    await disableBackOff(page)
    const form = getForm(page)
    const application = anApplication()
    await form.fill(application)
    let sends = 0
    page.on('request', (request) => (sends += Number(request.method() === 'POST')))
    await page.context().setOffline(true)
    await form.button.click()
    await form.failure.waitFor()
    const [storedText, notStoredText] = [
      'You seem to be offline. Your answers are kept here: send them again when you are connected.',
      'You seem to be offline. Send your answers again when you are connected.',
    ]
    expect(await page.locator('.error p').innerText()).toBe(isStored ? storedText : notStoredText)
    expect(await form.button.isEnabled()).toBe(true)
    const sendsBefore = sends
    await reconnect(page)
    await page.evaluate(() => dispatchEvent(new Event('online')))
    expect(await form.company.inputValue()).toBe(application.company)
    expect(sends).toBe(sendsBefore)
    await form.button.click()
    await form.success.waitFor()
  },
)
