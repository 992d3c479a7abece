import type { Page, Route } from 'playwright-core'
import { beforeEach, expect } from 'vitest'

import { people } from '../../support/applicants.ts'
import { deskForTestFile, focused, getDesk } from '../../support/desk-page.ts'
import { letterStates, setMailSender, storeLetter } from '../../support/letters.ts'
import { overflow } from '../../support/overflow.ts'
import { activateWindow, settle } from '../../support/refresh.ts'
import { resize } from '../../support/resize.ts'
import { accessibilityProblems, test } from '../../support/browser-test.ts'

const desk = deskForTestFile()

beforeEach(() => setMailSender(desk.sql, true))

const failedRequest = /Failed to load resource/
const zoe = { first_name: 'Zoë', last_name: 'Zola', email: 'zoe@example.org' }
const alan = { first_name: 'Alan', last_name: 'Turing', email: 'alan@example.org' }

const drafts = (page: Page) => page.locator('.drafts-draft')
/** The radio button of a recipient. The letter of the selected recipient is shown. */
const recipient = (page: Page, name: string | RegExp = '') => page.getByRole('radio', { name })

test.for([
  ['Stop 1 letter', 'H1: Letters'],
  ['Stop all letters', 'BUTTON: Stop all letters'],
])(
  'letters cannot be stopped once their minute is over, and the focus on %s is not lost',
  async ([focusOn = '', focusedAfter], { visitor }) => {
    const [id] = await desk.store([zoe])
    await storeLetter(desk.sql, id?.id ?? '', { template: 'Travel', dueIn: 62 })
    const page = await desk.open(visitor, '/letters', { prepare: (opened) => opened.clock.install() })
    const bar = page.getByRole('region', { name: 'On their way' })
    await bar.getByText(/^1 letter to Zoë Zola will be sent in (1:00|0:5\d)\.$/).waitFor()
    await getDesk(page).button(focusOn).focus()
    await desk.sql`update private.deliveries set due_at = now() where kind = 'letter'`
    await page.clock.fastForward(60_000)
    await bar.waitFor({ state: 'detached' })
    await expect.poll(() => focused(page)).toBe(focusedAfter)
    expect(await letterStates(desk.sql)).toEqual(['waiting'])
  },
)

test('the result of stopping a letter is announced, even after the minute in which it can be stopped', async ({
  visitor,
}) => {
  visitor.allowConsoleError(failedRequest)
  const [id] = await desk.store([zoe])
  await storeLetter(desk.sql, id?.id ?? '', { template: 'Travel', dueIn: 40 })
  const page = await desk.open(visitor, '/letters', { prepare: (opened) => opened.clock.install() })
  const { button, status } = getDesk(page)
  const bar = page.getByRole('region', { name: 'On their way' })
  await bar.waitFor()
  // A pending read would show the countdown.
  await settle(page)
  const stops: Route[] = []
  await page.route('**/rpc/desk_withdraw', (route) => void stops.push(route))
  const pressStop = async (callCount: number) => {
    await button('Stop 1 letter').click()
    await expect.poll(() => stops.length).toBe(callCount)
  }
  await pressStop(1)
  // The letter's minute is over, and a read confirms that no countdown remains.
  await desk.sql`update private.deliveries set due_at = now() where kind = 'letter'`
  const read = page.waitForResponse('**/rpc/desk_letters')
  await page.clock.fastForward(60_000)
  await read
  // The first call times out.
  await stops[0]?.abort()
  await bar.getByText('Not confirmed. The server did not respond in time.').waitFor()
  await pressStop(2)
  await stops[1]?.continue()
  await status.getByText('1 letter stopped.').waitFor()
  await bar.waitFor({ state: 'detached' })
  await expect.poll(() => focused(page)).toBe('H1: Letters')
  expect(await letterStates(desk.sql)).toEqual([])
})

test('text typed into templates, drafts and new letters survives Back and a reload', async ({ visitor }) => {
  const [stored] = await desk.store([zoe])
  await desk.setStatus(stored ? [stored] : [], 'accepted')
  const page = await desk.open(visitor, '/letters/templates/declined')
  const { button, heading, link } = getDesk(page)
  const text = page.getByLabel('Text', { exact: true })
  await text.fill('Not this time.')
  await link('Back').click()
  await heading('Letters').waitFor()
  await page.goBack()
  await expect.poll(() => text.inputValue()).toBe('Not this time.')
  await page.reload()
  await expect.poll(() => text.inputValue()).toBe('Not this time.')
  await button('Discard').click()
  expect(await text.inputValue()).toMatch(/^Hello {{first_name}},/)

  await page.goto(`${desk.origin}/desk#/letters/drafts/accepted`)
  await button('Edit: Zoë Zola').click()
  await text.fill('Dear Zoë,')
  await page.reload()
  await expect.poll(() => text.inputValue()).toBe('Dear Zoë,')
  await button('Save').click()
  await drafts(page).getByText('Edited for this person.').waitFor()
  await page.reload()
  await drafts(page).getByText('Dear Zoë,').waitFor()
  await expect.poll(() => text.count()).toBe(0)

  await page.goto(`${desk.origin}/desk#/applications/${stored?.id}`)
  await button('Write from scratch').click()
  await page.getByLabel('Subject', { exact: true }).fill('Bees')
  await text.fill('Bring bees.')
  await page.reload()
  await expect.poll(() => text.inputValue()).toBe('Bring bees.')
  expect(await page.getByLabel('Subject', { exact: true }).inputValue()).toBe('Bees')
})

test('typed text is kept when another organiser sends the letter, and typing never makes a decision', async ({
  visitor,
}) => {
  const [stored] = await desk.store([zoe])
  const id = stored?.id ?? ''
  const { client } = desk.bob
  const letter = { act: crypto.randomUUID(), application: id, subject: 'Bees', body: 'Dear Zoë' }
  const { data: draft } = await client.rpc('desk_write_to', letter).throwOnError()
  const page = await desk.open(visitor, `/applications/${id}`)
  const { button } = getDesk(page)
  await button('Edit: Zoë Zola').click()
  await page.getByLabel('Text', { exact: true }).press('End')
  await page.keyboard.type(', was it')
  await client
    .rpc('desk_release', { act: crypto.randomUUID(), letters: [draft], number: null, again: false })
    .throwOnError()
  const requests: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  await activateWindow(page)
  const endedDraft = page.locator('.drafts-draft', { hasText: 'This is no longer a draft' })
  while ((await endedDraft.count()) === 0) await page.keyboard.type('d')
  await page.keyboard.type('aswd')
  await endedDraft.getByText('Dear Zoë, was it').waitFor()
  await expect.poll(() => focused(page)).toContain('ARTICLE: What you entered')
  await button('Discard: Zoë Zola').click()
  await endedDraft.waitFor({ state: 'detached' })
  await expect.poll(() => focused(page)).toBe('H1: Zoë Zola')
  expect(requests.filter((address) => address.endsWith('/desk_decide'))).toEqual([])
  expect(await desk.statusOf(id)).toBe('new')
  // After a click, keys decide as usual.
  await page.keyboard.press('a')
  await expect.poll(() => desk.statusOf(id)).toBe('accepted')
})

test('sixty drafts are read by keys without losing the focus, and Send stays visible with the number of letters', async ({
  visitor,
}) => {
  const stored = await desk.store(people(60))
  await desk.setStatus(stored, 'accepted')
  const { client } = desk.ada
  const { data } = await client.rpc('desk_drafts', { occasion: 'accepted' }).throwOnError()
  const { id: letter, seen } = (data as { letters: { id: string; seen: string }[] }).letters[2] ?? {}
  await client.rpc('desk_edit', { letter, seen, subject: 'For one', body: 'Bring bees.' }).throwOnError()
  const page = await desk.open(visitor, '/letters/drafts/accepted')
  const { button, status } = getDesk(page)
  const names = () => page.locator('.drafts-recipient bdi').allTextContents()
  const letterOf = (name = '') =>
    drafts(page).filter({ has: page.getByRole('heading', { name, exact: true }) })
  await expect.poll(async () => (await names()).length).toBe(50)
  await button('More').click()
  await expect.poll(async () => (await names()).length).toBe(60)
  const [first, second, third] = await names()
  // The edited draft comes first, and is shown.
  await drafts(page).getByText('Bring bees.').waitFor()
  await page.getByText('59 not edited, 1 edited').waitFor()
  expect(await drafts(page).count()).toBe(1)
  for (const height of [650, 900]) {
    await resize(page, { width: 1366, height })
    await expect
      .poll(() => button('Send 60 letters').boundingBox())
      .toMatchObject({ y: expect.toSatisfy((y: number) => y < height - 44) })
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThan(2_000)
  }

  await page.keyboard.press('j')
  await letterOf(second).getByText('Hello Person,').waitFor()
  await expect.poll(() => focused(page)).toBe(`INPUT: ${second} `)
  // Leave this draft out.
  await page.keyboard.press('x')
  await button('Send 59 letters').waitFor()
  await page.keyboard.press('j')
  await letterOf(third).waitFor()
  // Tab moves from the row to its letter.
  await page.keyboard.press('Tab')
  await expect.poll(() => focused(page)).toBe(`A: ${third}`)
  await page.keyboard.press('k')
  await page.keyboard.press('k')
  await letterOf(first).getByText('Bring bees.').waitFor()
  await expect.poll(() => focused(page)).toContain(`INPUT: ${first}`)
  await recipient(page, new RegExp(`^${third}$`)).check()
  await button(`Remove: ${third}`).press('Enter')
  await status.getByText(`${third}: draft removed`).waitFor()
  await expect.poll(() => focused(page)).toMatch(/^INPUT: Person \d+ $/)
  expect(await accessibilityProblems(page)).toEqual([])
})

test('on a phone a letter appears under its row, with the reasons why it cannot be sent', async ({
  visitor,
}) => {
  const stored = await desk.store([zoe, { ...alan, team_size: '' }])
  await desk.sql`
    insert into private.templates (name, subject, body) values ('Rooms', 'A room', 'For {{team_size}}?')`
  const applications = stored.map(({ id }) => id)
  await desk.ada.client.rpc('desk_write', { applications, occasion: 'Rooms' }).throwOnError()
  const page = await desk.open(visitor, '/letters/drafts/Rooms', {
    viewport: { width: 390, height: 844 },
  })
  const row = page.getByRole('list', { name: 'Recipients' }).getByRole('listitem')
  for (const name of ['Zoë Zola', 'Alan Turing']) {
    await recipient(page, name).check()
    await row
      .filter({ has: recipient(page, name) })
      .locator('.drafts-draft')
      .waitFor()
    expect(await drafts(page).count()).toBe(1)
  }
  await page.getByText('1 not edited. 1 draft cannot be sent.').waitFor()
  await recipient(page, 'Alan Turing Cannot be sent').waitFor()
  await drafts(page).getByText('Left blank by the applicant: team_size').waitFor()
  expect(await page.getByLabel('Send to Alan Turing').count()).toBe(0)
  expect(await accessibilityProblems(page)).toEqual([])
  expect(await overflow(page)).toEqual({ scroll: 0, wide: [] })
  // The printed page shows all letters.
  await page.emulateMedia({ media: 'print' })
  await expect.poll(() => drafts(page).count()).toBe(2)
})
