import type { Locator, Page } from 'playwright-core'
import { beforeAll, expect } from 'vitest'

import { textFields } from '../../../src/application/fields.ts'
import { anApplication, getForm } from '../../support/form.ts'
import { brokenWords, overflow } from '../../support/overflow.ts'
import { startServer, dataDirectory, type RunningServer } from '../../support/server.ts'
import { formStates } from '../../support/form-states.ts'
import { waitForTakeOver, test } from '../../support/browser-test.ts'

const failedRequest = /Failed to load resource/

let server: RunningServer

beforeAll(async () => {
  const directory = await dataDirectory()
  server = await startServer({ DATA_DIR: directory.path, RATE_LIMIT_PER_MINUTE: '0' })
})

/** The result of `overflow` if the page does not scroll sideways and no element is too wide. */
const noOverflow = { scroll: 0, wide: [] }

/** The page for a screen reader: each element of the accessibility tree in reading order. */
async function accessibilityTree(page: Page) {
  const devtools = await page.context().newCDPSession(page)
  const { nodes } = await devtools.send('Accessibility.getFullAXTree')
  const byId = new Map(nodes.map((node) => [node.nodeId, node]))
  const read = (id: string): { role: string; name: string; required: boolean }[] => {
    const node = byId.get(id)
    if (!node) return []
    const descendants = (node.childIds ?? []).flatMap(read)
    if (node.ignored) return descendants
    const property = (name: string) => node.properties?.find((one) => one.name === name)?.value.value
    const ownNode = {
      role: String(node.role?.value),
      name: String(node.name?.value ?? ''),
      required: property('required') === true,
    }
    return [ownNode, ...descendants]
  }
  return read(nodes[0]?.nodeId ?? '')
}

test('every control has a name, a role and its required state, in reading order', async ({ visitor }) => {
  const page = await visitor.open(server.origin)
  await waitForTakeOver(page)
  const roles = ['heading', 'form', 'group', 'radiogroup', 'textbox', 'radio', 'checkbox', 'button']
  const tree = (await accessibilityTree(page)).filter(({ role }) => roles.includes(role))
  expect(tree.map(({ role, name, required }) => `${role}: ${name}${required ? ' (required)' : ''}`)).toEqual([
    'heading: Unplugged.',
    'form: Unplugged.',
    ...textFields.map(({ label }) => `textbox: ${label} (required)`),
    'radiogroup: Have you ever paid for a solution to disconnect from social media or technology? If so, what? (required)',
    'radio: I have not',
    'radio: Yes, screen time related',
    'radio: Yes, travel related',
    'radio: Yes, work or team related',
    'radio: Custom',
    'textbox: Press enter to add custom option',
    'radiogroup: How many full time team members are on your team? (required)',
    'radio: Just me',
    'radio: 1-3',
    'radio: 3-10',
    'radio: 10+',
    'textbox: Why do you want to attend this retreat? (required)',
    // Chromium's DevTools do not report whether a checkbox is required.
    'checkbox: I consent to receiving communications from this team',
    'button: Send Details!',
  ])
  const text = (await accessibilityTree(page))
    .filter(({ role }) => role === 'StaticText')
    .map(({ name }) => name)
  const words = [
    'Free For Founders, Apply Below',
    'Unplugged.',
    'Build deeper relationships',
    'First name',
    'Send',
  ]
  const positions = words.map((word) => text.findIndex((line) => line.startsWith(word)))
  expect(positions).not.toContain(-1)
  expect(positions).toEqual(positions.toSorted((a, b) => a - b))
})

test('each field names its purpose, so that browsers can fill it in', async ({ visitor }) => {
  const page = await visitor.open(server.origin)
  const purposes = await page
    .locator('input[autocomplete]')
    .evaluateAll((inputs) => inputs.map((input) => [input.id, input.getAttribute('autocomplete')]))
  expect(Object.fromEntries(purposes)).toEqual({
    first_name: 'given-name',
    last_name: 'family-name',
    email: 'email',
    phone: 'tel',
    linkedin: 'url',
    company: 'organization',
  })
})

test('the whole form works by keyboard alone, and the focus is visible at every step', async ({
  visitor,
}) => {
  visitor.allowConsoleError(failedRequest)
  const application = anApplication({
    paid_solution: 'custom',
    custom_solution: 'A cabin',
    team_size: '3-10',
  })
  const page = await visitor.open(server.origin, { viewport: { width: 360, height: 320 } })
  await waitForTakeOver(page)
  const { keyboard } = page
  const form = getForm(page)

  /** The focused element after the page has scrolled to it. Fails if it is not visible. */
  const focused = async () => {
    const seen = await page.waitForFunction(() => {
      const element = document.activeElement
      if (!element) return undefined
      // Of a large box, 44 visible pixels are enough.
      const { left, top, right, bottom } = element.getBoundingClientRect()
      const [from, to] = [Math.max(top, 0), Math.min(bottom, window.innerHeight)]
      const shown = document.elementFromPoint((left + right) / 2, (from + to) / 2)
      const { outlineStyle, outlineWidth } = getComputedStyle(element)
      if (to - from < Math.min(bottom - top, 44) || !element.contains(shown)) return undefined
      return {
        name: element.getAttribute('name') ?? element.tagName,
        outline: `${outlineWidth} ${outlineStyle}`,
      }
    })
    return seen.jsonValue()
  }
  const expectedFocus = (name: string) => ({ name, outline: '3px solid' })

  for (const { name } of textFields) {
    await keyboard.press('Tab')
    expect(await focused()).toEqual(expectedFocus(name))
    await keyboard.type(application[name])
  }
  await keyboard.press('Tab')
  expect(await focused()).toEqual(expectedFocus('paid_solution'))
  await keyboard.press('Space')
  for (let step = 0; step < 4; step += 1) await keyboard.press('ArrowDown')
  expect(await form.customRadio.isChecked()).toBe(true)
  await keyboard.press('Tab')
  expect(await focused()).toEqual(expectedFocus('custom_solution'))
  await keyboard.type('A cabin')
  await keyboard.press('Enter')
  expect(await focused()).toEqual(expectedFocus('custom_solution'))
  await keyboard.press('Tab')
  expect(await focused()).toEqual(expectedFocus('team_size'))
  await keyboard.press('ArrowDown')
  await keyboard.press('ArrowDown')
  await keyboard.press('Tab')
  expect(await focused()).toEqual(expectedFocus('reason'))
  await keyboard.type(application.reason)
  await keyboard.press('Tab')
  expect(await focused()).toEqual(expectedFocus('consent'))
  await keyboard.press('Space')
  await keyboard.press('Tab')
  expect(await focused()).toEqual(expectedFocus('BUTTON'))

  await page.route('**/rest/v1/**', (route) => route.fulfill({ status: 400, json: { message: 'Not now.' } }))
  await keyboard.press('Enter')
  await form.failure.waitFor()
  expect(await focused()).toMatchObject({ name: 'SECTION' })
  await page.unroute('**/rest/v1/**')
  await keyboard.press('Shift+Tab')
  expect(await focused()).toEqual(expectedFocus('BUTTON'))
  const [request] = await Promise.all([page.waitForRequest('**/rest/v1/**'), keyboard.press('Enter')])
  expect(request.postDataJSON()).toEqual(application)
  await form.success.waitFor()
  expect(await focused()).toMatchObject({ name: 'SECTION' })
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.textContent))
    .toContain('Thank you for applying')
})

const descriptionOf = (box: Locator) =>
  box.evaluate(
    (element) => document.getElementById(element.getAttribute('aria-describedby') ?? '')?.textContent,
  )

test('a screen reader announces that the application is being sent, and then the result', async ({
  visitor,
}) => {
  visitor.allowConsoleError(failedRequest)
  const page = await visitor.open(server.origin)
  await waitForTakeOver(page)
  const form = getForm(page)
  // The announcements: texts that are added to an existing live region.
  await page.evaluate(() => {
    const heard: string[] = []
    Object.assign(window, { heard })
    const region = document.querySelector('[aria-live=polite]')
    if (!region) return
    new MutationObserver((changes) => {
      for (const { addedNodes, target } of changes) {
        const words = [...addedNodes].map((node) => node.textContent ?? '').join(' ')
        if (words || target instanceof Text) heard.push(words || (target.textContent ?? ''))
      }
    }).observe(region, { childList: true, characterData: true, subtree: true })
  })
  const heard = () => page.evaluate(() => Reflect.get(window, 'heard') as string[])

  await page.route('**/rest/v1/**', (route) => route.fulfill({ status: 400, json: { message: 'Not now.' } }))
  await form.fill(anApplication())
  await form.button.click()
  await form.failure.waitFor()
  // The live region does not repeat the result, because the box with it gets the focus and is read out.
  expect(await heard()).toEqual(['Sending your application.'])
  const box = page.locator('.outcome')
  await expect.poll(() => box.evaluate((element) => element === document.activeElement)).toBe(true)
  expect(await box.ariaSnapshot()).toContain('region "Submission Failed"')
  expect(await descriptionOf(box)).toBe('Not now.')
  await page.unroute('**/rest/v1/**')
  await form.button.click()
  await form.success.waitFor()
  expect((await heard()).slice(1)).toEqual(['Sending your application.'])
  expect(await box.ariaSnapshot()).toContain('region "Application Submitted Successfully!"')
  expect(await descriptionOf(box)).toMatch(/^Thank you/)
})

test('the result boxes scroll into view and get the focus, and the red box does not move the form', async ({
  visitor,
}) => {
  visitor.allowConsoleError(failedRequest)
  const page = await visitor.open(server.origin, { viewport: { width: 360, height: 640 } })
  await waitForTakeOver(page)
  const form = getForm(page)
  await form.fill(anApplication())
  const topInPage = (element: Element) => element.getBoundingClientRect().top + window.scrollY
  const before = await form.reason.evaluate(topInPage)
  await page.route('**/rest/v1/**', (route) =>
    route.fulfill({ status: 400, json: { message: 'Not now. '.repeat(20) } }),
  )
  await form.button.click()
  await form.failure.waitFor()
  const box = page.locator('.outcome')
  await page.waitForFunction(() => {
    const bounds = document.querySelector('.outcome')?.getBoundingClientRect()
    return bounds && bounds.top >= 0 && bounds.bottom <= window.innerHeight
  })
  await expect.poll(() => box.evaluate((element) => element === document.activeElement)).toBe(true)
  expect(await form.reason.evaluate(topInPage)).toBe(before)
  await page.unroute('**/rest/v1/**')
  await form.button.click()
  await form.success.waitFor()
  await page.waitForFunction(() => {
    const bounds = document.querySelector('.success')?.getBoundingClientRect()
    return bounds && bounds.top >= 0 && bounds.bottom <= window.innerHeight
  })

  // The form is ready for another application: empty, and with an active button.
  expect(await form.answers()).toEqual({
    ...Object.fromEntries(textFields.map(({ name }) => [name, ''])),
    custom_solution: '',
    reason: '',
  })
  expect(await form.consent.isChecked()).toBe(false)
  expect(await form.button.isEnabled()).toBe(true)
})

test.for([320, 360, 768, 1024, 1440, 1920])(
  'nothing overflows at %d px, however long the answers are',
  async (width, { visitor }) => {
    visitor.allowConsoleError(failedRequest)
    const page = await visitor.open(server.origin, { viewport: { width, height: 800 } })
    expect(await overflow(page)).toEqual(noOverflow)
    const long = 'Wolfeschlegelsteinhausenbergerdorff'.repeat(8)
    await page.route('**/rest/v1/**', (route) =>
      route.fulfill({ status: 400, json: { message: `${long} ${long}` } }),
    )
    const form = getForm(page)
    await form.fill(
      anApplication({
        first_name: long,
        company: long,
        paid_solution: 'custom',
        custom_solution: long,
        reason: long,
      }),
    )
    await form.button.click()
    await form.failure.waitFor()
    expect(await overflow(page)).toEqual(noOverflow)
  },
)

test('at 400 % zoom of a window of 1280 x 1024 nothing overflows and everything can be used', async ({
  visitor,
}) => {
  const page = await visitor.open(server.origin, {
    viewport: { width: 320, height: 256 },
    deviceScaleFactor: 4,
  })
  const form = getForm(page)
  await form.fill(anApplication())
  expect(await overflow(page)).toEqual(noOverflow)
  await form.button.click()
  await form.success.waitFor()
  expect(await overflow(page)).toEqual(noOverflow)
})

test.for([320, 360, 390, 1280])(
  'with text at twice its size nothing overflows or is cut off, and no word is broken (%d px)',
  async (width, { visitor }) => {
    const page = await visitor.open(server.origin, { viewport: { width, height: 800 }, bypassCSP: true })
    await page.addStyleTag({ content: 'html { font-size: 200% }' })
    const form = getForm(page)
    await form.firstName.fill('Ada')
    await form.button.click()
    await form.problem('consent').waitFor()
    expect([await overflow(page), await brokenWords(page)]).toEqual([noOverflow, []])
    await form.fill(anApplication())
    await form.button.click()
    await form.success.waitFor()
    expect([await overflow(page), await brokenWords(page)]).toEqual([noOverflow, []])
    const cut = await page.evaluate(() =>
      [...document.querySelectorAll('label, legend, button, p, h1, h2, input')]
        .filter(
          (element) =>
            !element.closest('.visually-hidden') && element.scrollHeight > element.clientHeight + 1,
        )
        .filter((element) => getComputedStyle(element).overflowY !== 'visible')
        .map((element) => element.outerHTML.slice(0, 80)),
    )
    expect(cut).toEqual([])
  },
)

test('on a phone the text of every field is at least 16 px high, and every target at least 44 px', async ({
  visitor,
}) => {
  const page = await visitor.open(server.origin, { viewport: { width: 360, height: 780 }, hasTouch: true })
  const controls = await page.locator('input, textarea, button').evaluateAll((elements) =>
    elements.map((element) => {
      const target = element.matches('[type=radio], [type=checkbox]') ? element.closest('label') : element
      const { width, height } = (target ?? element).getBoundingClientRect()
      return {
        name: `${element.getAttribute('name')} ${element.getAttribute('value')}`,
        fontSize: Number.parseFloat(getComputedStyle(element).fontSize),
        width,
        height,
      }
    }),
  )
  expect(controls).toHaveLength(19)
  expect(
    controls.filter(({ fontSize, width, height }) => fontSize < 16 || width < 44 || height < 44),
  ).toEqual([])
})

test('reduced motion stops all motion; otherwise the icon bounces', async ({ visitor }) => {
  const motionOf = (page: Page) =>
    page.evaluate(() => ({
      animations: document
        .getAnimations()
        .map((animation) => Reflect.get(animation, 'animationName') as string),
      transitions: [...document.querySelectorAll('*')].filter(
        (element) =>
          getComputedStyle(element).transitionProperty !== 'none' &&
          getComputedStyle(element).transitionDuration !== '0s',
      ).length,
    }))
  const reducedPage = await visitor.open(server.origin, { reducedMotion: 'reduce' })
  await formStates['in-progress']?.(reducedPage)
  expect(await motionOf(reducedPage)).toEqual({ animations: [], transitions: 0 })
  const unreducedPage = await visitor.open(server.origin, { reducedMotion: 'no-preference' })
  expect((await motionOf(unreducedPage)).animations).toEqual(['bounce'])
  expect((await motionOf(unreducedPage)).transitions).toBeGreaterThan(0)
})

test('in forced colours every control keeps a border, and the selected choice is visible', async ({
  visitor,
}) => {
  const page = await visitor.open(server.origin, { forcedColors: 'active' })
  const edges = await page
    .locator('input:not([type=radio], [type=checkbox]), textarea, button')
    .evaluateAll((elements) =>
      elements.map(
        (element) => getComputedStyle(element).borderTopWidth + getComputedStyle(element).borderTopStyle,
      ),
    )
  expect(new Set(edges)).toEqual(new Set(['1pxsolid']))
  const appearances = await page
    .locator('[type=radio], [type=checkbox]')
    .evaluateAll((elements) => elements.map((element) => getComputedStyle(element).appearance))
  expect(new Set(appearances)).toEqual(new Set(['auto']))
})
