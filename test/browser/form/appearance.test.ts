import { expect } from 'vitest'

import { serverForTestFile } from '../../support/server-for-test-file.ts'
import { getForm, style } from '../../support/form.ts'
import { formStates } from '../../support/form-states.ts'
import { waitForTakeOver, test } from '../../support/browser-test.ts'
import { dark, light } from '../../../src/design/palette.ts'

const server = serverForTestFile()

/** A colour of the palette in the computed notation of browsers. */
function rgb(hex: string) {
  const [red, green, blue] = [1, 3, 5].map((start) => Number.parseInt(hex.slice(start, start + 2), 16))
  return `rgb(${red}, ${green}, ${blue})`
}

test('after success the button has no colour but is enabled, until something is typed', async ({
  visitor,
}) => {
  visitor.allowConsoleError(/409/)
  const page = await visitor.open(server.origin)
  const form = getForm(page)
  await formStates['success']?.(page)
  const background = () => form.button.evaluate(style, 'background-color')
  const [transparent, emberColour] = ['rgba(0, 0, 0, 0)', rgb(light.ember)]
  expect(await background()).toBe(transparent)
  expect(await form.button.isEnabled()).toBe(true)
  for (const field of [form.email, form.reason, form.customSolution]) {
    await field.fill('a')
    await expect.poll(background).toBe(emberColour)
    await field.fill('')
    if (field === form.customSolution) break
    await expect.poll(background).toBe(transparent)
  }
  // Typing in the custom box selects the custom radio.
  expect(await form.customRadio.isChecked()).toBe(true)
  expect(await background()).toBe(emberColour)
  expect(await form.success.isVisible()).toBe(true)
})

test('an unreadable text that would be slow to lay out is shown as dots, and keeps its value', async ({
  visitor,
}) => {
  const page = await visitor.open(server.origin)
  const { reason } = getForm(page)
  await waitForTakeOver(page)
  const shown = async (text: string) => {
    await reason.fill(text)
    expect(await reason.inputValue()).toBe(text)
    return reason.evaluate(style, '-webkit-text-security')
  }
  expect(await shown('xع'.repeat(5_000))).toBe('disc')
  expect(await shown(`a${'\u0301'.repeat(9_999)}`)).toBe('disc')
  // Texts that a person may have written.
  for (const text of ['山'.repeat(5_000), 'x'.repeat(5_000), 'أريد أن أفكر. '.repeat(500)]) {
    expect(await shown(text)).toBe('none')
  }
})

// Chromium takes 1.6 s to lay out 50,000 times "r" in DejaVu Sans with kerning, and 10 ms without it.
test('a text area has no kerning, also without JavaScript', async ({ visitor }) => {
  const page = await visitor.open(server.origin, { javaScriptEnabled: false })
  expect(await getForm(page).reason.evaluate(style, 'font-kerning')).toBe('none')
})

test('hovered, chosen and invalid elements look different, in light and dark', async ({ visitor }) => {
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
  // The radio is valid, so the refused send does not change its colour.
  expect(await choice('work').locator('input').evaluate(style, 'border-top-color')).toBe(rgb(light.ember))
  await page.emulateMedia({ colorScheme: 'dark' })
  await expect.poll(() => form.company.evaluate(style, 'border-top-color')).toBe(rgb(dark.invalid))
})

test('a tapped element does not look hovered', async ({ visitor }) => {
  const page = await visitor.open(server.origin, {
    hasTouch: true,
    isMobile: true,
    viewport: { width: 390, height: 844 },
  })
  const choice = page.locator('.choice:has([value="travel"])')
  await choice.tap()
  expect(await choice.locator('input').isChecked()).toBe(true)
  // A change of the layout after the tap, such as when the script takes over, ends the emulated hover.
  const isHovered = async () => {
    await choice.tap()
    return choice.evaluate((element) => element.matches(':hover'))
  }
  await expect.poll(isHovered).toBe(true)
  expect(await choice.evaluate(style, 'background-color')).toBe('rgba(0, 0, 0, 0)')
})

test('in forced colours an invalid field has a thick border', async ({ visitor }) => {
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

test('the custom answer is dimmed while another choice is selected', async ({ visitor }) => {
  const page = await visitor.open(server.origin)
  const form = getForm(page)
  const colour = () => form.customSolution.evaluate(style, 'color')
  await form.customSolution.fill('A cabin')
  expect(await colour()).toBe(rgb(light.ink))
  await form.paidSolution.locator('[value=work]').check()
  expect(await colour()).toBe(rgb(light['ink-quiet']))
})

test('the custom placeholder fits in every window, also with the text spacing of WCAG 1.4.12', async ({
  visitor,
}) => {
  const page = await visitor.open(server.origin, { bypassCSP: true })
  const widths = [320, 390, 1366]
  const fittingWidths = async () => {
    const fitting: number[] = []
    for (const width of widths) {
      await page.setViewportSize({ width, height: 800 })
      const isWhole = await getForm(page).customSolution.evaluate(
        ({ scrollHeight, clientHeight, scrollWidth, clientWidth }) =>
          scrollHeight <= clientHeight && scrollWidth <= clientWidth,
      )
      if (isWhole) fitting.push(width)
    }
    return fitting
  }
  expect(await fittingWidths()).toEqual(widths)
  await page.addStyleTag({
    content: `* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important }
      p { margin-bottom: 2em !important }`,
  })
  expect(await fittingWidths()).toEqual(widths)
})
