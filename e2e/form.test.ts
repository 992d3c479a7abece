import { once } from 'node:events'
import { expect } from 'vitest'

import { serverOfThisFile } from '../testing/file-server.ts'
import { anApplication, getForm } from '../testing/form.ts'
import { states } from '../testing/states.ts'
import { hydrated, test, type Visitor } from '../testing/visitor.ts'
import { dark, light } from '../src/design/palette.ts'

const server = serverOfThisFile()

/** A colour of the palette as browsers compute it. */
function rgb(hex: string) {
  const [red, green, blue] = [1, 3, 5].map((start) => Number.parseInt(hex.slice(start, start + 2), 16))
  return `rgb(${red}, ${green}, ${blue})`
}

const style = (element: Element, name: string) => getComputedStyle(element).getPropertyValue(name)

test('after success the button is quiet but in use, until something is typed', async ({ visitor }) => {
  visitor.expects(/409/)
  const page = await visitor.open(server.origin)
  const form = getForm(page)
  await states['success']?.(page)
  const background = () => form.button.evaluate(style, 'background-color')
  const [quiet, loud] = ['rgba(0, 0, 0, 0)', rgb(light.ember)]
  expect(await background()).toBe(quiet)
  expect(await form.button.isEnabled()).toBe(true)
  for (const field of [form.email, form.reason, form.customSolution]) {
    await field.fill('a')
    await expect.poll(background).toBe(loud)
    await field.fill('')
    if (field === form.customSolution) break
    await expect.poll(background).toBe(quiet)
  }
  // Typing there chose it.
  expect(await form.customRadio.isChecked()).toBe(true)
  expect(await background()).toBe(loud)
  expect(await form.success.isVisible()).toBe(true)
})

test('the green box goes when the next send is refused by the browser', async ({ visitor }) => {
  visitor.expects(/409/)
  const page = await visitor.open(server.origin)
  const form = getForm(page)
  await states['success']?.(page)
  await form.button.click()
  await form.success.waitFor({ state: 'detached' })
  expect(await form.firstName.evaluate((field) => field === document.activeElement)).toBe(true)
  expect(await form.button.isEnabled()).toBe(true)
  await form.fill(anApplication())
  await form.button.click()
  await form.success.waitFor()
})

/** The page that answered a send whose script failed; further scripts fail, too. */
async function sentNatively(visitor: Visitor) {
  visitor.expects(/Failed to load resource|ERR_FAILED/)
  const page = await visitor.open(server.origin, {}, (opened) =>
    opened.route('**/assets/**', (route) => route.abort()),
  )
  const form = getForm(page)
  await form.fill(anApplication())
  await form.button.click()
  await form.success.waitFor()
  return page
}

test('so it does on the page that answered a native send, before and after its script', async ({
  visitor,
}) => {
  const page = await sentNatively(visitor)
  const form = getForm(page)
  await form.button.click()
  await form.success.waitFor({ state: 'detached' })
  await page.unroute('**/assets/**')
  await hydrated(page)
  expect(await form.success.count()).toBe(0)
  await form.fill(anApplication())
  await form.button.click()
  await form.success.waitFor()
})

test('a text that nobody can read is shown as dots, since it would take long to lay out, and kept as it is', async ({
  visitor,
}) => {
  const page = await visitor.open(server.origin)
  const { reason } = getForm(page)
  await hydrated(page)
  const shown = async (text: string) => {
    await reason.fill(text)
    expect(await reason.inputValue()).toBe(text)
    return reason.evaluate(style, '-webkit-text-security')
  }
  expect(await shown('xع'.repeat(5_000))).toBe('disc')
  expect(await shown(`a${'\u0301'.repeat(9_999)}`)).toBe('disc')
  // Words that somebody may have written.
  for (const text of ['山'.repeat(5_000), 'x'.repeat(5_000), 'أريد أن أفكر. '.repeat(500)]) {
    expect(await shown(text)).toBe('none')
  }
})

test('what is pointed at, chosen and invalid looks different, by day and by night', async ({ visitor }) => {
  const page = await visitor.open(server.origin)
  const form = getForm(page)
  const choice = (value: string) => page.locator(`.choice:has([value="${value}"])`)
  await choice('travel').hover()
  expect(await choice('travel').evaluate(style, 'background-color')).toBe(rgb(light.hover))
  expect(await choice('travel').evaluate(style, 'box-shadow')).toBe('none')
  await choice('work').click()
  await form.firstName.hover()
  expect(await choice('work').evaluate(style, 'background-color')).toBe('rgba(0, 0, 0, 0)')
  expect(await choice('work').evaluate(style, 'box-shadow')).toContain(rgb(light.ember))

  await form.button.click()
  expect(await form.consent.evaluate(style, 'border-top-color')).toBe(rgb(light.invalid))
  expect(await page.locator('.consent').evaluate(style, 'box-shadow')).toContain(rgb(light.invalid))
  await expect.poll(() => form.company.evaluate(style, 'border-top-color')).toBe(rgb(light.invalid))
  // A send that was refused calls the radio valid, too: it stays as it was.
  expect(await choice('work').locator('input').evaluate(style, 'border-top-color')).toBe(rgb(light.ember))
  await page.emulateMedia({ colorScheme: 'dark' })
  await expect.poll(() => form.company.evaluate(style, 'border-top-color')).toBe(rgb(dark.invalid))
})

test('what was touched does not stay as pointed at', async ({ visitor }) => {
  const page = await visitor.open(server.origin, {
    hasTouch: true,
    isMobile: true,
    viewport: { width: 390, height: 844 },
  })
  const choice = page.locator('.choice:has([value="travel"])')
  await choice.tap()
  expect(await choice.locator('input').isChecked()).toBe(true)
  await expect.poll(() => choice.evaluate((element) => element.matches(':hover'))).toBe(true)
  expect(await choice.evaluate(style, 'background-color')).toBe('rgba(0, 0, 0, 0)')
})

test('in forced colours an invalid field has a thick edge', async ({ visitor }) => {
  const page = await visitor.open(server.origin, { forcedColors: 'active' })
  const form = getForm(page)
  const edges = () =>
    Promise.all(
      [form.company, form.reason, page.locator('.consent')].map((one) =>
        one.evaluate(style, 'border-left-width'),
      ),
    )
  expect(await edges()).toEqual(['1px', '1px', '0px'])
  await form.button.click()
  expect(await edges()).toEqual(['8px', '8px', '6px'])
})

test('the custom answer is quiet while another choice is made', async ({ visitor }) => {
  const page = await visitor.open(server.origin)
  const form = getForm(page)
  const colour = () => form.customSolution.evaluate(style, 'color')
  await form.customSolution.fill('A cabin')
  expect(await colour()).toBe(rgb(light.ink))
  await form.paidSolution.locator('[value=work]').check()
  expect(await colour()).toBe(rgb(light['ink-quiet']))
})

test.for([320, 390, 1366])(
  'the custom placeholder is whole at %d px, also with the text spacing of WCAG 1.4.12',
  async (width, { visitor }) => {
    const page = await visitor.open(server.origin, { viewport: { width, height: 800 }, bypassCSP: true })
    const isWhole = () =>
      getForm(page).customSolution.evaluate(
        ({ scrollHeight, clientHeight, scrollWidth, clientWidth }) =>
          scrollHeight <= clientHeight && scrollWidth <= clientWidth,
      )
    expect(await isWhole()).toBe(true)
    await page.addStyleTag({
      content: `* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important }
        p { margin-bottom: 2em !important }`,
    })
    expect(await isWhole()).toBe(true)
  },
)

test('phones are told what is written where', async ({ visitor }) => {
  const page = await visitor.open(server.origin)
  const form = getForm(page)
  expect(await form.linkedin.getAttribute('autocapitalize')).toBe('none')
  expect(await form.linkedin.getAttribute('spellcheck')).toBe('false')
  expect(await form.customSolution.getAttribute('enterkeyhint')).toBe('next')
})

test.for([
  ['with its script', '**/rest/v1/**'],
  ['before its script has come', '**/assets/**'],
] as const)(
  'while it is being sent nothing can be edited, and the button is in sight (%s)',
  async ([, held], { visitor }) => {
    visitor.expects(/Failed to load resource/)
    const goOn = new AbortController()
    const released = once(goOn.signal, 'abort')
    const page = await visitor.open(
      server.origin,
      { viewport: { width: 390, height: 500 } },
      async (opened) => {
        await opened.route('**/rest/v1/**', (route) =>
          route.fulfill({ status: 400, json: { message: 'Not now.' } }),
        )
        await opened.route(held, async (route) => {
          await released
          await route.fallback()
        })
      },
    )
    const form = getForm(page)
    const application = anApplication()
    await form.fill(application)
    await form.company.press('Enter')
    const isInSight = await page.getByRole('button', { name: 'Submitting...' }).evaluate(async (button) => {
      // After the browser has shown once more in which field Enter was pressed.
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
      const { top, bottom } = button.getBoundingClientRect()
      return top >= 0 && bottom <= window.innerHeight
    })
    expect(isInSight).toBe(true)
    await page.keyboard.type('lost')
    goOn.abort()
    await form.failure.waitFor()
    expect(await form.answers()).toMatchObject({
      first_name: application.first_name,
      company: application.company,
    })
    await form.firstName.fill('Augusta')
    expect(await form.firstName.inputValue()).toBe('Augusta')
  },
)

test('an answer that is not the backend’s is no message for a visitor', async ({ visitor }) => {
  const page = await visitor.open(server.origin)
  const body = '<html>Please sign in to this network</html>'
  await page.route('**/rest/v1/**', (route) => route.fulfill({ body, contentType: 'text/html' }))
  const form = getForm(page)
  await form.fill(anApplication())
  await form.button.click()
  await page.getByText('Failed to submit application. Please try again.').waitFor()
  expect(await form.success.count()).toBe(0)
})

test('who writes already on the page that answered a native send keeps the focus when its script comes', async ({
  visitor,
}) => {
  const page = await sentNatively(visitor)
  const form = getForm(page)
  const goOn = new AbortController()
  const released = once(goOn.signal, 'abort')
  await page.route('**/assets/**', async (route) => {
    await released
    await route.continue()
  })
  // The box, which the browser focuses by itself, may have asked for the script already.
  await form.firstName.click()
  await page.keyboard.type('abc')
  goOn.abort()
  await hydrated(page)
  await page.keyboard.type('def')
  expect(await form.firstName.inputValue()).toBe('abcdef')
})

test('an input event before what was typed is back loses nothing of it', async ({ visitor }) => {
  const page = await visitor.open(server.origin)
  const form = getForm(page)
  await form.firstName.fill('Ada')
  await form.reason.fill('To think.')
  // As a password manager does.
  await page.addInitScript(() => {
    document.addEventListener('DOMContentLoaded', () => {
      const field = document.querySelector<HTMLInputElement>('#email')
      if (!field) return
      field.value = 'ada@example.com'
      field.dispatchEvent(new Event('input', { bubbles: true }))
    })
  })
  await page.reload()
  const kept = { first_name: 'Ada', email: 'ada@example.com', reason: 'To think.' }
  expect(await form.answers()).toMatchObject(kept)
  await page.reload()
  expect(await form.answers()).toMatchObject(kept)
})

test('the Enter that ends a composition stays in the custom box', async ({ visitor }) => {
  const page = await visitor.open(server.origin)
  const { customSolution } = getForm(page)
  await customSolution.focus()
  // WebKit's, which comes after the composition's end.
  await customSolution.evaluate((box) =>
    box.dispatchEvent(
      new KeyboardEvent('keydown', { key: 'Enter', keyCode: 229, bubbles: true, cancelable: true }),
    ),
  )
  expect(await customSolution.evaluate((box) => box === document.activeElement)).toBe(true)
})
