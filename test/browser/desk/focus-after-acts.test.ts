import type { Page } from 'playwright-core'
import { expect } from 'vitest'

import { prepareAct } from '../../support/act-cases.ts'
import { deskForTestFile, focused, getDesk } from '../../support/desk-page.ts'
import { releaseDrafts, storeLetter } from '../../support/letters.ts'
import { resize } from '../../support/resize.ts'
import { test } from '../../support/browser-test.ts'

const desk = deskForTestFile()

test('Esc leaves the note field and keeps its text, a key adds the note, and the focus is never lost', async ({
  visitor,
}) => {
  const id = await prepareAct(desk)
  const page = await desk.open(visitor, `/applications/${id}`)
  const { button, dialog, note, status } = getDesk(page)
  await note.fill('A strong one.')
  await note.press('Escape')
  await expect.poll(() => focused(page)).toBe('H1: Ada Lovelace')
  await page.keyboard.press('n')
  expect(await note.inputValue()).toBe('A strong one.')
  await note.press('Control+Enter')
  await expect.poll(() => status.textContent()).toBe('Note added')
  await expect.poll(() => focused(page)).toBe('H1: Ada Lovelace')
  await note.fill('Another one.')
  await button('Add note').focus()
  await page.keyboard.press('Enter')
  await expect.poll(() => note.inputValue()).toBe('')
  await expect.poll(() => focused(page)).toBe('BUTTON: Add note')

  const sendLetter = async () => {
    await button('Send 1 letter').click()
    await dialog.getByRole('button', { name: 'Send 1 letter' }).click()
  }
  await sendLetter()
  await button('Stop 1 letter').waitFor()
  await expect.poll(() => focused(page)).not.toContain('BODY')

  await desk.setStatus(await desk.store([{ first_name: 'Grace' }]), 'accepted')
  await page.evaluate(() => (location.hash = '/letters/drafts/accepted'))
  await sendLetter()
  await page.getByText('No drafts here.').waitFor()
  await expect.poll(() => focused(page)).toBe('H1: Drafts: Accepted')
})

interface DisappearingButton {
  name: string
  path: string
  /** Makes it appear. */
  show: (page: Page) => Promise<unknown>
  /** The focus after it was pressed. */
  focus: string
}

const disappearing: DisappearingButton[] = [
  {
    name: 'Discard',
    path: '/door',
    show: (page) => page.getByLabel('Sentence for applicants').fill('Full.'),
    focus: 'H1: Door',
  },
  {
    name: 'Save',
    path: '/applications/1',
    async show(page) {
      await page.locator('.application-marks').getByRole('button', { name: 'Yes' }).click()
      await page.locator('.application-own-mark').waitFor({ state: 'attached' })
      await page.getByLabel('Reason (one line)').fill('Warm.')
    },
    focus: 'H1: Ada Lovelace',
  },
  {
    name: 'Draft again',
    path: '/applications/1',
    show: (page) => getDesk(page).button('Draft from template').click(),
    focus: 'H1: Ada Lovelace',
  },
  {
    name: 'Cancel',
    path: '/letters/outbox/refused',
    show: (page) => getDesk(page).button('Send to another address: Ada Lovelace').click(),
    focus: 'BUTTON: Send to another address: Ada Lovelace',
  },
]

test.for(disappearing)(
  '$name disappears when it is pressed, and the focus is on the heading or on the button that opened its form',
  async ({ name, path, show, focus }, { visitor }) => {
    const id = await prepareAct(desk)
    await releaseDrafts(desk.sql, { state: 'done' }, id)
    await storeLetter(desk.sql, id, { template: 'Travel', state: 'failed', isRefused: true })
    const page = await desk.open(visitor, path.replace('/1', `/${id}`))
    await show(page)
    await getDesk(page).button(name).first().press('Enter')
    await expect.poll(() => focused(page)).toBe(focus)
  },
)

test('the result of an act appears in the lower half of the window, above the buttons at the foot or beside them', async ({
  visitor,
}) => {
  const id = await prepareAct(desk)
  const page = await desk.open(visitor, `/applications/${id}`)
  const { note, status } = getDesk(page)
  for (const size of [
    { width: 390, height: 844 },
    { width: 1366, height: 650 },
  ]) {
    await resize(page, size)
    await note.fill(`At ${size.width}`)
    await note.press('Control+Enter')
    await page.locator('.application-note', { hasText: `At ${size.width}` }).waitFor()
    await expect.poll(() => status.textContent()).toBe('Note added')
    const [announcement, ...buttons] = await page.evaluate(() =>
      [...document.querySelectorAll('.announce-words span, .decisions-bar > :is(a, button)')]
        .toSorted((one) => (one.matches('span') ? -1 : 0))
        .map((each) => each.getBoundingClientRect().toJSON() as DOMRect)
        .filter(({ width }) => width > 0),
    )
    expect(buttons.length).toBeGreaterThan(3)
    for (const button of buttons)
      expect(
        (announcement?.bottom ?? Infinity) <= button.top || (announcement?.left ?? 0) >= button.right,
      ).toBe(true)
    expect(announcement?.top).toBeGreaterThan(size.height / 2)
    expect(announcement?.bottom).toBeLessThanOrEqual(size.height)
    await status.evaluate((live) =>
      live.getAnimations({ subtree: true }).forEach((animation) => animation.finish()),
    )
  }
})
