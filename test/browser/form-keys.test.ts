import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

import { serverForTestFile } from '../support/server-for-test-file.ts'
import { anApplication, getForm, style } from '../support/form.ts'
import { waitForTakeOver, test } from '../support/browser-test.ts'

const server = serverForTestFile()

test('fields tell phones about capitals, spelling and the Enter key', async ({ visitor }) => {
  const page = await visitor.open(server.origin)
  const form = getForm(page)
  expect(await form.linkedin.getAttribute('autocapitalize')).toBe('none')
  expect(await form.linkedin.getAttribute('spellcheck')).toBe('false')
  expect(await form.firstName.getAttribute('enterkeyhint')).toBe('next')
  for (const field of [form.reason, form.customSolution])
    expect(await field.getAttribute('enterkeyhint')).toBeNull()
})

test.for(['before', 'after'])(
  '%s the script has loaded, Enter in the custom box chooses the custom option and stays there; with a modifier or in a composition it does not',
  async (moment, { visitor }) => {
    const page = await visitor.open(server.origin, {}, async (opened) => {
      if (moment === 'before') await opened.route('**/assets/**', () => {})
    })
    if (moment === 'after') await waitForTakeOver(page)
    const { customSolution, customRadio, button } = getForm(page)
    await customSolution.focus()
    const modifiers = ['ctrlKey', 'altKey', 'metaKey', 'shiftKey']
    // Each key of a composition has this code. In WebKit, only the code shows that Enter ended one.
    const inComposition = [{ keyCode: 229 }, { keyCode: 229, isComposing: true }]
    for (const init of [...modifiers.map((name) => ({ keyCode: 13, [name]: true })), ...inComposition]) {
      const keepsBrowserEffect = await customSolution.evaluate((box, options) => {
        const enter = { key: 'Enter', bubbles: true, cancelable: true, ...options }
        return box.dispatchEvent(new KeyboardEvent('keydown', enter))
      }, init)
      const outcome = { keepsBrowserEffect, isChosen: await customRadio.isChecked() }
      expect({ init, ...outcome }).toEqual({ init, keepsBrowserEffect: true, isChosen: false })
    }
    await page.keyboard.press('Enter')
    expect(await customRadio.isChecked()).toBe(true)
    expect(await customSolution.inputValue()).toBe('')
    expect(await focusedName(page)).toBe('custom_solution')
    expect([await button.innerText(), await refusedFields(page)]).toEqual(['Send Details!', 0])
  },
)

const focusedName = (page: Page) => page.evaluate(() => document.activeElement?.getAttribute('name'))
const refusedFields = (page: Page) => page.locator('[aria-invalid=true]').count()

test('Enter goes to the next blank required field, marks no field as invalid, and sends if no field is blank', async ({
  visitor,
}) => {
  const application = anApplication({ paid_solution: '', team_size: '' })
  const page = await visitor.open(server.origin)
  await waitForTakeOver(page)
  const form = getForm(page)
  const { keyboard } = page
  let sends = 0
  page.on('request', () => (sends += 1))
  await form.company.fill(application.company)
  await form.firstName.focus()
  // The company is already filled in, so Enter skips it.
  for (const column of ['first_name', 'last_name', 'email', 'phone', 'linkedin'] as const) {
    expect(await focusedName(page)).toBe(column)
    if (column !== 'first_name') await keyboard.type(application[column])
    await keyboard.press('Enter')
  }
  expect(await focusedName(page)).toBe('reason')
  await keyboard.type('To think.')
  // In a text area Enter adds a line.
  await keyboard.press('Enter')
  expect(await form.reason.inputValue()).toBe('To think.\n')
  await form.phone.press('Enter')
  expect(await focusedName(page)).toBe('consent')
  await keyboard.press('Space')
  // Enter also goes back to an earlier blank field.
  await form.company.press('Enter')
  expect(await focusedName(page)).toBe('first_name')
  expect([await refusedFields(page), sends]).toEqual([0, 0])
  await keyboard.type('Ada')
  await keyboard.press('Enter')
  await form.success.waitFor()
})

test("Enter with a modifier, during a composition or in a choice keeps the browser's own effect", async ({
  visitor,
}) => {
  const page = await visitor.open(server.origin)
  await waitForTakeOver(page)
  const form = getForm(page)
  const keepsBrowserEffect = (init: Record<string, boolean>) =>
    form.email.evaluate((field, options) => {
      const enter = { key: 'Enter', bubbles: true, cancelable: true, ...options }
      return field.dispatchEvent(new KeyboardEvent('keydown', enter))
    }, init)
  expect(await keepsBrowserEffect({})).toBe(false)
  for (const init of [{ ctrlKey: true }, { altKey: true }, { metaKey: true }, { shiftKey: true }])
    expect({ ...init, keepsBrowserEffect: await keepsBrowserEffect(init) }).toEqual({
      ...init,
      keepsBrowserEffect: true,
    })
  expect(await keepsBrowserEffect({ isComposing: true })).toBe(true)
  for (const field of [form.teamSize.locator('[value="1-3"]'), form.consent]) {
    await form.firstName.fill('')
    await field.press('Enter')
    // In a choice the browser tries to send, and refuses the blank field.
    await expect.poll(() => focusedName(page)).toBe('first_name')
    expect(await form.problem('first_name').count()).toBe(1)
  }
})

test('a keydown of autofill has no key, and a click of assistive technology no pointer: both leave the keys as they are', async ({
  visitor,
}) => {
  const page = await visitor.open(server.origin)
  await waitForTakeOver(page)
  const form = getForm(page)
  await form.firstName.dispatchEvent('keydown')
  await form.paidSolution.locator('[value=work]').press('ArrowUp')
  expect(await focusedName(page)).toBe('paid_solution')
  await form.customRadio.evaluate((radio: HTMLElement) => radio.click())
  expect(await focusedName(page)).toBe('custom_solution')
})

test('an error appears beside its field in the browser’s words when the field is left, until it is corrected', async ({
  visitor,
}) => {
  const page = await visitor.open(server.origin)
  await waitForTakeOver(page)
  const form = getForm(page)
  const browserMessage = (field: Locator) =>
    field.evaluate((element: HTMLInputElement) => element.validationMessage)
  const ariaInvalidOf = (field: Locator) => field.getAttribute('aria-invalid')
  const edge = (field: Locator) => field.evaluate(style, 'box-shadow')

  // No error appears for skipped or emptied fields, or in a field that is being typed.
  await form.firstName.focus()
  await form.lastName.fill('x')
  await form.lastName.fill('')
  await form.consent.check()
  await form.consent.uncheck()
  await form.email.pressSequentially('ada')
  const required = await page.locator(':required').all()
  expect(required).toHaveLength(8)
  for (const field of required) {
    expect(await ariaInvalidOf(field)).toBe('false')
    expect(await edge(field)).toBe('none')
  }

  await form.email.press('Tab')
  await form.problem('email').waitFor()
  expect(await form.problem('email').innerText()).toBe(await browserMessage(form.email))
  expect(await ariaInvalidOf(form.email)).toBe('true')
  expect(await edge(form.email)).toContain('inset')
  expect(await descriptionOf(form.email)).toBe(await browserMessage(form.email))
  await form.email.pressSequentially('@')
  expect(await form.problem('email').innerText()).toBe(await browserMessage(form.email))
  await form.email.pressSequentially('example.com')
  await form.problem('email').waitFor({ state: 'detached' })
  expect(await ariaInvalidOf(form.email)).toBe('false')
  expect(await form.email.getAttribute('aria-describedby')).toBeNull()

  // The message moves the button, and the click still works.
  await form.email.fill('ada')
  await form.button.click()
  expect(await form.problem('email').innerText()).toBe(await browserMessage(form.email))
  await form.email.fill('ada@example.com')
  for (const column of ['first_name', 'phone', 'reason', 'consent'] as const) {
    const field = page.locator(`[name=${column}]`)
    expect(await form.problem(column).innerText()).toBe(await browserMessage(field))
    expect(await descriptionOf(field)).toBe(await browserMessage(field))
    expect(await ariaInvalidOf(field)).toBe('true')
  }
  expect(await form.problem('email').count()).toBe(0)
  await form.consent.check()
  expect(await form.problem('consent').count()).toBe(0)
  await form.fill(anApplication())
  expect(await refusedFields(page)).toBe(0)
  await form.button.click()
  await form.success.waitFor()
  expect([await refusedFields(page), await page.locator('.problem').count()]).toEqual([0, 0])
})

const descriptionOf = (field: Locator) =>
  field.evaluate(
    (element) => document.getElementById(element.getAttribute('aria-describedby') ?? '')?.textContent,
  )
