import { expect } from 'vitest'

import { people } from '../support/applicants.ts'
import { deskForTestFile, getDesk } from '../support/desk-page.ts'
import { test } from '../support/visitor.ts'

const desk = deskForTestFile()

const markAs = (application: string, mark: string, why = '') =>
  desk.bob.client.rpc('desk_mark', { act: crypto.randomUUID(), application, mark, why })

test('keys mark an application, which then shows the marks of others, and Enter saves a one-line explanation', async ({
  visitor,
}) => {
  const [{ id } = { id: '' }, { id: other } = { id: '' }] = await desk.store(people(2))
  await markAs(id, 'no', '=Cold.')
  const page = await desk.open(visitor, `/applications/${id}`)
  const { status } = getDesk(page)
  const marks = page.getByRole('region', { name: 'Your mark' })
  await marks.getByText('You see other marks once').waitFor()
  expect(await marks.textContent()).not.toContain('bob@example.org')
  await page.keyboard.press('1')
  await expect.poll(() => status.textContent()).toBe('Person 1: your mark is Yes')
  await expect.poll(() => marks.locator('li').textContent()).toBe('No bob@example.org: =Cold.')
  expect(await marks.getByRole('button', { name: 'Yes', exact: true }).getAttribute('aria-pressed')).toBe(
    'true',
  )

  await marks.getByLabel('Why, in a line').fill('Knows what to leave behind.')
  await page.keyboard.press('Enter')
  await expect
    .poll(
      () => desk.sql`select mark, why, is_after_seeing from private.marks where author = 'ada@example.org'`,
    )
    .toEqual([{ mark: 'yes', why: 'Knows what to leave behind.', is_after_seeing: false }])
  await page.emulateMedia({ media: 'print' })
  await marks.getByText('Yes ada@example.org: Knows what to leave behind.').waitFor()
  await page.emulateMedia({ media: 'screen' })

  await page.getByRole('heading', { name: 'Person 1' }).press('2')
  await marks
    .getByText('You saw other marks before you gave or changed yours, so it says “after seeing”.')
    .waitFor()

  await page.getByRole('heading', { name: 'Person 1' }).press('j')
  await page.getByRole('heading', { name: 'Person 2' }).waitFor()
  await page.keyboard.press('3')
  await expect.poll(() => status.textContent()).toBe('Person 2: your mark is No')
  await page.keyboard.press('0')
  await expect.poll(() => status.textContent()).toBe('Person 2: no mark')
  expect(
    await desk.sql`select from private.marks where application_id = ${other} and mark is not null`,
  ).toEqual([])

  await page.keyboard.press('Escape')
  await page.getByText('1 maybe, 1 no').waitFor()
})

test('of keys that are pressed while a mark is being saved, the last one counts', async ({ visitor }) => {
  const [{ id } = { id: '' }] = await desk.store(people(1))
  const page = await desk.open(visitor, `/applications/${id}`)
  const marks = page.getByRole('region', { name: 'Your mark' })
  await marks.waitFor()
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  await page.route('**/rpc/desk_mark', async (route) => {
    await released
    await route.continue()
  })
  for (const key of ['1', '2', '0', '3']) await page.keyboard.press(key)
  await marks.getByRole('button', { name: 'No', exact: true, pressed: true }).waitFor()
  release()
  const stored = () => desk.sql`select mark from private.marks where application_id = ${id}`
  await expect.poll(stored).toEqual([{ mark: 'no' }])
})

test('the list shows what is left to mark, and where organisers disagree', async ({ visitor }) => {
  const [{ id: one } = { id: '' }, { id: two } = { id: '' }] = await desk.store(people(3))
  await Promise.all([markAs(one, 'no'), markAs(two, 'no')])
  await desk.ada.client.rpc('desk_mark', { act: crypto.randomUUID(), application: one, mark: 'yes' })
  const page = await desk.open(visitor)
  const { button, link } = getDesk(page)
  await button('Filters').click()
  await page.getByLabel('Marks').selectOption('Not marked by me')
  await expect.poll(() => link('Person 1').count()).toBe(0)
  await expect.poll(() => page.locator('.list-tabs [aria-current] .list-count').textContent()).toBe('2')
  await page.getByLabel('Marks').selectOption('We disagree')
  await expect.poll(() => page.locator('.rows-name a').allTextContents()).toEqual(['Person 1'])
  await page.getByLabel('Order').selectOption('Shuffled')
  await expect.poll(() => page.locator('.rows-name a').count()).toBe(2)
  expect(page.url()).toContain('marks=none+of+mine&order=shuffled')
})

test('marks are hidden if there is only one organiser, and nobody waits for those who only read', async ({
  visitor,
}) => {
  const [{ id } = { id: '' }] = await desk.store(people(1))
  const account = await desk.open(visitor, '/account')
  const onlyRead = account.getByRole('switch', { name: 'I only read' })
  await onlyRead.click()
  await expect.poll(() => getDesk(account).status.textContent()).toBe('You only read.')
  const bobsPage = await desk.open(visitor, `/applications/${id}`, { as: desk.bob })
  const marks = bobsPage.getByRole('region', { name: 'Your mark' })
  await marks.waitFor()
  await bobsPage.keyboard.press('2')
  await marks.getByRole('button', { name: 'Maybe', pressed: true }).waitFor()
  expect(await marks.textContent()).not.toContain('ada@example.org')
  await onlyRead.click()
  await expect.poll(() => getDesk(account).status.textContent()).toBe('You read and mark.')

  const [{ account_id: bob }] = await desk.sql<[{ account_id: string }]>`
    delete from private.organisers using auth.users
    where users.id = account_id and email = 'bob@example.org' returning account_id`
  await account.goto(`${desk.origin}/desk#/applications/${id}`)
  await account.getByRole('heading', { name: 'What happened' }).waitFor()
  expect(await account.getByRole('heading', { name: 'Your mark' }).count()).toBe(0)
  await desk.sql`insert into private.organisers (account_id) values (${bob})`
})
