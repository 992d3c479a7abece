import { expect } from 'vitest'

import { people } from '../support/applicants.ts'
import { deskForTestFile, focused, getDesk } from '../support/desk-page.ts'
import { test } from '../support/visitor.ts'

const desk = deskForTestFile()

test('suggested junk is put aside by groups, nobody else is touched, and one key brings it back', async ({
  visitor,
}) => {
  await desk.store([
    ...people(3).map((person, index) => ({ ...person, reason: `To think about ${index}.` })),
    ...Array.from({ length: 4 }, (_, index) => ({
      first_name: 'Bot',
      last_name: `Same ${index}`,
      email: `same${index}@s${index}.example`,
      reason: `Best  SEO${' '.repeat(index)}now`,
    })),
    ...Array.from({ length: 2 }, (_, index) => ({
      first_name: 'Bot',
      last_name: `Link ${index}`,
      email: `link${index}@l${index}.example`,
      reason: `https://shop.example/${index}`,
    })),
  ])
  const page = await desk.open(visitor)
  const { button, tab, names, status, heading } = getDesk(page)
  const dialog = page.getByRole('dialog')
  expect(await tab('Put aside').count()).toBe(0)
  await button('6 look like junk…').click()
  await dialog.getByText('4 with the same reason').waitFor()
  await dialog.getByRole('button', { name: 'Put aside 4' }).click()
  expect(await focused(page)).toBe('BUTTON: Close')
  await dialog.getByRole('button', { name: 'Put aside 2' }).click()
  await dialog.getByRole('heading', { name: 'Nothing looks like junk' }).waitFor()
  await dialog.getByRole('button', { name: 'Close' }).click()
  await expect
    .poll(() => heading('Applications').evaluate((each) => each === document.activeElement))
    .toBe(true)
  await expect.poll(() => tab('Put aside').locator('.list-count').textContent()).toBe('6')
  expect(await tab('All').locator('.list-count').textContent()).toBe('3')
  expect(
    await desk.sql`
      select status, count(*)::int from private.statuses join public.retreat_applications on id = application_id
      where first_name = 'Bot' group by 1`,
  ).toEqual([{ status: 'aside', count: 6 }])

  await tab('Put aside').click()
  await expect.poll(names).toHaveLength(6)
  await page.getByLabel('Select all shown').check()
  await page.keyboard.press('r')
  await expect.poll(() => status.textContent()).toBe('6 applications: New')
  await tab('New').click()
  await expect.poll(names).toHaveLength(9)
  await expect.poll(() => tab('Put aside').count()).toBe(0)
})

test('the key p puts an application aside, and Undo takes it back', async ({ visitor }) => {
  const [{ id } = { id: '' }] = await desk.store(people(2))
  const page = await desk.open(visitor, `/applications/${id}`)
  const { status, pill } = getDesk(page)
  await pill.waitFor()
  await page.keyboard.press('p')
  await expect.poll(() => status.textContent()).toBe('Person 1: Put aside')
  expect(await pill.textContent()).toBe('Put aside')
  await expect.poll(() => desk.statusOf(id)).toBe('aside')
  await page.keyboard.press('z')
  await expect.poll(() => status.textContent()).toBe('Undone: Person 1 is New again')
})
