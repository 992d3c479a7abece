import { releaseDrafts, storeLetter } from '../support/letters.ts'
import type { Page, Route } from 'playwright-core'
import { beforeEach, expect } from 'vitest'

import { signPageIn, startDesk } from '../support/desk.ts'
import { people } from '../support/applicants.ts'
import { deskForTestFile, focused, getDesk } from '../support/desk-page.ts'
import { anApplication } from '../support/form.ts'
import { startMailServer } from '../support/mail-server.ts'
import { startNameServer } from '../support/name-server.ts'
import { overflow } from '../support/overflow.ts'
import { mailServerAt } from '../support/sign-in.ts'
import { startMailChecks } from '../../src/server/mail/requested-checks.ts'
import { accessibilityProblems, test } from '../support/visitor.ts'
import { valuesOf } from '../support/sql.ts'
import { resize } from '../support/resize.ts'
import { activateWindow, settle } from '../support/refresh.ts'

const desk = deskForTestFile()

beforeEach(async () => {
  await desk.sql`
    delete from private.templates where name not in ('received', 'accepted', 'waitlisted', 'declined')`
  await desk.sql`update private.letter_settings set receipts = false, reply_to = ''`
  await desk.sql`update private.organisers set notices = 'off'`
  await setMailSender(true)
})

/** Makes the database record that a server sends emails or calls an automation, or that no server does. */
async function setMailSender(sendsEmails: boolean, callsAutomation = false) {
  const seenAfter = (isSeen: boolean) => (isSeen ? '1 hour' : '-2 days')
  await desk.sql`
    update private.postman set stopped = false, seen_at = now() + ${seenAfter(sendsEmails)}::interval,
      automation_seen_at = now() + ${seenAfter(callsAutomation)}::interval`
}

/** Makes Bob call the function immediately before the page's next call of it. */
async function conflictWithNextCall(page: Page, name: string, args: object) {
  await page.route(
    `**/rpc/${name}`,
    async (route) => {
      await desk.bob.client.rpc(name, args).throwOnError()
      await route.continue()
    },
    { times: 1 },
  )
}

const failedRequest = /Failed to load resource/
const zoe = { first_name: 'Zoë', last_name: 'Zola', email: 'zoe@example.org' }
const alan = { first_name: 'Alan', last_name: 'Turing', email: 'alan@example.org' }

const statesInDatabase = async () => {
  const rows = await desk.sql<{ state: string }[]>`
    select state from private.letter_deliveries where state <> 'withdrawn'
    union all select state from private.letters where state = 'draft' order by state`
  return rows.map(({ state }) => state)
}
const drafts = (page: Page) => page.locator('.drafts-draft')
/** The radio button of a recipient. The letter of the selected recipient is shown. */
const recipient = (page: Page, name: string | RegExp = '') => page.getByRole('radio', { name })
/** The button of an applicant whom a search for the preview found. */
const foundApplicant = (page: Page, name: string) =>
  page.locator('.templates-with li').getByRole('button', { name })

test('two decisions make drafts, one draft is changed, and both letters are released and then stopped in time', async ({
  visitor,
}) => {
  const stored = await desk.store([zoe, alan])
  const page = await desk.open(visitor, '/?status=all')
  const { link, button, heading, status, dialog, select } = getDesk(page)
  await select('Zoë Zola').check()
  await select('Alan Turing').check()
  await button('Accept').click()
  await status.getByText('2 applications: Accepted').waitFor()

  await link('Letters').click()
  await heading('Letters').waitFor()
  await page.getByText('2 accepted applicants').waitFor()
  await page.getByRole('link', { name: 'Review 2 drafts' }).click()
  await heading('Drafts: Accepted').waitFor()
  await expect.poll(() => recipient(page).count()).toBe(2)
  await recipient(page, 'Zoë Zola').check()
  await page.getByText('To zoe@example.org').waitFor()

  const draftOf = (name: string) => drafts(page).filter({ has: page.getByRole('heading', { name }) })
  await button('Edit: Zoë Zola').click()
  const text = page.getByLabel('Text', { exact: true })
  expect(await text.inputValue()).toMatch(/^Hello Zoë,\n/)
  await text.fill('Dear Zoë,\n\nbring your bees.')
  await button('Save').click()
  await status.getByText('Zoë Zola: changed').waitFor()
  await draftOf('Zoë Zola').getByText('Dear Zoë, bring your bees.').waitFor()
  expect(await draftOf('Zoë Zola').textContent()).toContain('Edited for this person.')

  await button('Send 2 letters').click()
  await dialog.getByRole('heading', { name: 'Send 2 letters?' }).waitFor()
  await dialog.getByText('They will be sent in a minute. Until then you can stop them.').waitFor()
  await dialog.getByRole('button', { name: 'Send 2 letters' }).click()
  const bar = page.getByRole('region', { name: 'On their way' })
  await bar.waitFor()
  expect(await bar.locator('p').textContent()).toMatch(/^2 letters will be sent in (1:00|0:\d\d)\.$/)
  await page.getByText('No drafts here.', { exact: true }).waitFor()
  expect(await statesInDatabase()).toEqual(['waiting', 'waiting'])
  // The bar also appears after a reload, which clears the state of the page.
  await page.reload()
  await bar.waitFor()

  // The bar appears on every screen with letters.
  await link('Back').click()
  await page.getByRole('link', { name: '2 are on the way' }).waitFor()
  await bar.waitFor()
  await page.getByRole('link', { name: '2 are on the way' }).click()
  await button('Stop: Alan Turing').waitFor()
  await button('Stop 2 letters').click()
  await status.getByText('2 letters stopped.').waitFor()
  await bar.waitFor({ state: 'detached' })
  expect(await statesInDatabase()).toEqual(['draft', 'draft'])
  await page.getByText('No letters here.').waitFor()

  await link('Letters').click()
  await page.getByRole('link', { name: 'Review 2 drafts' }).click()
  await recipient(page, 'Zoë Zola Edited').check()
  await draftOf('Zoë Zola').getByText('Dear Zoë, bring your bees.').waitFor()
  await page.getByRole('link', { name: 'Zoë Zola' }).click()
  await heading('Zoë Zola').waitFor()
  const timeline = page.locator('.application-timeline li')
  await timeline.getByText('Letter “Accepted” on the way').waitFor()
  await timeline.getByText('Letter “Accepted” stopped').waitFor()
  expect(await desk.statusOf(stored[0]?.id ?? '')).toBe('accepted')
})

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
    await bar.getByText(/^1 letter will be sent in (1:00|0:5\d)\.$/).waitFor()
    await getDesk(page).button(focusOn).focus()
    await desk.sql`update private.deliveries set due_at = now() where kind = 'letter'`
    await page.clock.fastForward(60_000)
    await bar.waitFor({ state: 'detached' })
    expect(await focused(page)).toBe(focusedAfter)
    expect(await statesInDatabase()).toEqual(['waiting'])
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
  expect(await focused(page)).toBe('H1: Letters')
  expect(await statesInDatabase()).toEqual([])
})

test('letters that others stopped have no countdown any more, even if stopping them failed here', async ({
  visitor,
}) => {
  visitor.allowConsoleError(failedRequest)
  const [zola, turing] = await desk.store([zoe, alan])
  await storeLetter(desk.sql, zola?.id ?? '', { template: 'Travel', dueIn: 55 })
  const page = await desk.open(visitor, '/letters')
  const { button, status } = getDesk(page)
  const bar = page.getByRole('region', { name: 'On their way' })
  // An active window reads again what is older than a second.
  const expectBars = (count: number) =>
    expect
      .poll(async () => {
        await page.evaluate(() => dispatchEvent(new Event('focus')))
        return bar.count()
      })
      .toBe(count)
  await page.route('**/rpc/desk_withdraw', (route) =>
    route.fulfill({ status: 400, json: { code: '22023', message: 'It is too late.' } }),
  )
  await button('Stop 1 letter').click()
  await bar.getByText('Not stopped. It is too late.').waitFor()
  // A colleague stops it.
  await desk.sql`delete from private.deliveries`
  await expectBars(0)

  await storeLetter(desk.sql, turing?.id ?? '', { template: 'Travel', dueIn: 55 })
  await expectBars(1)
  await button('Stop 1 letter').click()
  await bar.getByText('Not stopped. It is too late.').waitFor()
  await button('Stop all letters').click()
  await status.getByText('All letters are stopped.').waitFor()
  await bar.waitFor({ state: 'detached' })
})

test('a template with an unknown placeholder, or changed meanwhile, is not saved and keeps its typed text', async ({
  visitor,
}) => {
  visitor.allowConsoleError(failedRequest)
  await desk.store([zoe])
  const page = await desk.open(visitor, '/letters')
  const { button, heading, status } = getDesk(page)
  await page.getByLabel('Name of a new template').fill('Travel & 100% food')
  await button('New template').click()
  await heading('Template: Travel & 100% food').waitFor()
  await page.getByLabel('Subject').fill('How to get there')
  const text = page.getByLabel('Text', { exact: true })
  await text.fill('Hello {{frist_name}}, ')
  await page.getByText('Unknown placeholder: frist_name').waitFor()
  await button('Save').click()
  await page.getByText('Not saved. There is no placeholder {{frist_name}}.').waitFor()
  expect(await text.inputValue()).toBe('Hello {{frist_name}}, ')

  await text.fill('Hello ')
  await button('{{first_name}}').click()
  expect(await text.inputValue()).toBe('Hello {{first_name}}')
  await page.locator('.letters-letter').getByText('Hello Zoë', { exact: true }).waitFor()
  await button('Save').click()
  await status.getByText('Template saved.').waitFor()

  // Another organiser changes the template meanwhile.
  await text.fill('Mine')
  await conflictWithNextCall(page, 'desk_set_template', {
    occasion: 'Travel & 100% food',
    version: 0,
    subject: 'Theirs',
    body: 'Theirs',
  })
  await button('Save').click()
  await page.getByRole('alert').getByText('Somebody else changed this template meanwhile.').waitFor()
  expect(await text.inputValue()).toBe('Mine')
  await button('Save anyway').click()
  // The screen now knows the saved version, which Remove sends.
  await button('Save').waitFor()
  await expect
    .poll(() => desk.sql`select body, version from private.templates where name like 'Travel%'`)
    .toEqual([{ body: 'Mine', version: 2 }])
  // A double press does not remove the template.
  await button('Remove').press('Enter')
  await button('Remove for good').waitFor()
  await page.keyboard.press('Enter')
  await button('Remove').waitFor()
  await button('Remove').click()
  await button('Remove for good').click()
  await heading('Letters').waitFor()
  await page.getByRole('link', { name: 'Travel & 100% food' }).waitFor({ state: 'detached' })
})

test('text typed into templates and drafts survives Back, a reload, and the removal of the draft', async ({
  visitor,
}) => {
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
  // Another organiser changes the decision meanwhile, and changes it back.
  await desk.setStatus(stored ? [stored] : [], 'declined')
  await page.reload()
  await page.getByText('This is no longer a draft').waitFor()
  await drafts(page).getByText('Dear Zoë,').waitFor()
  await desk.setStatus(stored ? [stored] : [], 'accepted')
  await page.reload()
  await expect.poll(() => text.inputValue()).toBe('Dear Zoë,')
  await button('Save').click()
  await drafts(page).getByText('Edited for this person.').waitFor()
  await page.reload()
  await drafts(page).getByText('Dear Zoë,').waitFor()
  await expect.poll(() => text.count()).toBe(0)
})

test('text typed into a draft during a save is kept', async ({ visitor }) => {
  const [stored] = await desk.store([zoe])
  await desk.setStatus(stored ? [stored] : [], 'accepted')
  const page = await desk.open(visitor, '/letters/drafts/accepted')
  const { button, status } = getDesk(page)
  const text = page.getByLabel('Text', { exact: true })
  await button('Edit: Zoë Zola').click()
  await text.fill('Dear Zoë')
  const saves: Route[] = []
  await page.route('**/rpc/desk_edit', (route) => void saves.push(route), { times: 1 })
  await button('Save').click()
  await expect.poll(() => saves.length).toBe(1)
  await text.press('End')
  await text.pressSequentially(', bring your bees.')
  await saves[0]?.continue()
  await status.getByText('Zoë Zola: changed').waitFor()
  expect(await text.inputValue()).toBe('Dear Zoë, bring your bees.')
  await button('Save').click()
  await drafts(page).getByText('Dear Zoë, bring your bees.').waitFor()
  await expect.poll(() => text.count()).toBe(0)
})

test('the editor of a letter stays open while somebody types, and typing never makes a decision', async ({
  visitor,
}) => {
  const [stored] = await desk.store([zoe])
  const id = stored?.id ?? ''
  const page = await desk.open(visitor, `/applications/${id}`)
  const { button, heading, link } = getDesk(page)
  const text = page.getByLabel('Text', { exact: true })
  await button('Write from scratch').click()
  await text.fill('Hello')
  // Leave the screen, return with the browser's Back, empty the text, and type a different one.
  await link('Back').click()
  await heading('Applications').waitFor()
  await page.goBack()
  await text.press('Control+a')
  await text.press('Backspace')
  await page.keyboard.type('Thanks for applying')
  expect(await text.inputValue()).toBe('Thanks for applying')
  await page.getByLabel('Subject', { exact: true }).fill('Bees')
  await button('Save draft').click()
  await button('Edit: Zoë Zola').click()
  await text.press('End')
  await page.keyboard.type(' x')
  await page.reload()
  // While it is edited, the text equals the saved text for a moment.
  await text.press('End')
  await page.keyboard.press('Backspace')
  await page.keyboard.press('Backspace')
  await page.keyboard.type(' as a wasp')
  expect(await text.inputValue()).toBe('Thanks for applying as a wasp')
  expect(await desk.statusOf(id)).toBe('new')
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
  expect(await focused(page)).toContain('ARTICLE: What you entered')
  await button('Discard: Zoë Zola').click()
  await endedDraft.waitFor({ state: 'detached' })
  expect(await focused(page)).toBe('H1: Zoë Zola')
  expect(requests.filter((address) => address.endsWith('/desk_decide'))).toEqual([])
  expect(await desk.statusOf(id)).toBe('new')
  // After a click, keys decide as usual.
  await page.keyboard.press('a')
  await expect.poll(() => desk.statusOf(id)).toBe('accepted')
})

test('without a server that sends emails, each letter opens in the mail program and is recorded as sent', async ({
  visitor,
}) => {
  await setMailSender(false)
  const [stored] = await desk.store([{ ...zoe, company: 'Bees & Sons' }])
  await desk.setStatus(stored ? [stored] : [], 'declined')
  const page = await desk.open(visitor, '/letters')
  await page.getByText('This site has no mail server yet').waitFor()
  const { button, heading, link, status } = getDesk(page)
  await page.getByRole('link', { name: 'Review 1 draft' }).click()
  const mailProgramLink = link('Open in mail program: Zoë Zola')
  const address = new URL((await mailProgramLink.getAttribute('href')) ?? '')
  expect(address.href.split('?')[0]).toBe('mailto:zoe@example.org')
  expect(address.searchParams.get('subject')).toBe('Your application to Unplugged')
  expect(address.searchParams.get('body')).toMatch(/^Hello Zoë,\r\n\r\n[^]*Bees & Sons[^]*\.$/)
  expect(await button('Send 1 letter').count()).toBe(0)
  await button('I sent it: Zoë Zola').click()
  await status.getByText('Zoë Zola: sent by hand').waitFor()
  await page.getByText('No drafts here.').waitFor()

  await link('Applications').click()
  await getDesk(page).tab('Declined').click()
  await page.getByText('letter sent').waitFor()
  await link('Zoë Zola').click()
  await heading('Zoë Zola').waitFor()
  await page.locator('.application-timeline').getByText('Letter “Declined” sent by hand').waitFor()
  await page.getByLabel('Letter', { exact: true }).selectOption('Declined')
  await button('Draft from template').click()
  await page.getByText('They already have this letter.').waitFor()
  await button('Draft again').click()
  await page.getByText('The draft is below. Nothing has been sent.').waitFor()
  expect(await statesInDatabase()).toEqual(['draft', 'sent'])
})

test('an organiser writes to one person without a template, stops the letter, sends it, and finds its text', async ({
  visitor,
}) => {
  visitor.allowConsoleError(failedRequest)
  const [stored] = await desk.store([zoe])
  const page = await desk.open(visitor, `/applications/${stored?.id}`)
  const { button, dialog, heading, link, status, timeline } = getDesk(page)
  const subject = page.getByLabel('Subject', { exact: true })
  const text = page.getByLabel('Text', { exact: true })
  await button('Write from scratch').click()
  await expect.poll(() => subject.evaluate((field) => field === document.activeElement)).toBe(true)
  await subject.fill('One question')
  await text.fill('Dear {{first_name}},')
  await button('Save draft').click()
  await page.getByText('Draft not saved. A letter to one person has no placeholders').waitFor()
  await text.fill('Dear Zoë,\n\ndo bees swim?')
  // The text is kept after another screen and after a reload.
  await link('Back').click()
  await heading('Applications').waitFor()
  await page.goBack()
  await expect.poll(() => text.inputValue()).toBe('Dear Zoë,\n\ndo bees swim?')
  await page.reload()
  await expect.poll(() => subject.inputValue()).toBe('One question')
  await button('Save draft').click()
  await status.getByText('Draft saved. Nothing has been sent.').waitFor()
  const draft = page.locator('.drafts-draft')
  await draft.getByText('do bees swim?').waitFor()
  await draft.getByText('To zoe@example.org').waitFor()
  expect(await draft.textContent()).not.toContain('template')
  await expect.poll(() => subject.count()).toBe(0)

  await link('Letters').click()
  await page.getByText('1 draft without a template, written to one person').waitFor()
  await link('Review 1 draft: To one person').click()
  await heading('Drafts: To one person').waitFor()
  await button('Edit: Zoë Zola').click()
  await text.fill('Dear Zoë,\n\ndo your bees swim?')
  await button('Save').click()
  await status.getByText('Zoë Zola: changed').waitFor()
  await link('Zoë Zola').click()
  await draft.getByText('do your bees swim?').waitFor()

  const send = async () => {
    await button('Send 1 letter').click()
    await dialog.getByText('It will be sent in a minute. Until then you can stop it.').waitFor()
    await dialog.getByRole('button', { name: 'Send 1 letter' }).click()
    await status.getByText('1 letter on the way').waitFor()
    await button('Stop 1 letter').waitFor()
  }
  await send()
  await expect.poll(() => draft.count()).toBe(0)
  await button('Stop 1 letter').click()
  await status.getByText('1 letter stopped.').waitFor()
  await draft.getByText('do your bees swim?').waitFor()
  expect(await statesInDatabase()).toEqual(['draft'])
  await send()
  await desk.sql`
    update private.deliveries set state = 'done', done_at = now(), due_at = null
    where kind = 'letter' and state = 'waiting'`
  await page.reload()
  await timeline.getByText('Letter “One question” sent', { exact: true }).waitFor()
  await timeline.getByText('Letter “One question” on the way').last().click()
  await timeline.getByText('do your bees swim?').filter({ visible: true }).waitFor()
  await expect.poll(() => button('Stop 1 letter').count()).toBe(0)
})

test('without a mail server a letter to one person opens in the mail program, and a blind reader cannot write one', async ({
  visitor,
}) => {
  await setMailSender(false)
  const [stored] = await desk.store([zoe])
  const page = await desk.open(visitor, `/applications/${stored?.id}`)
  const { button, link, note, status, timeline } = getDesk(page)
  await button('Write from scratch').click()
  await page.getByLabel('Subject', { exact: true }).fill('One question')
  await page.getByLabel('Text', { exact: true }).fill('Do bees swim?')
  await button('Save draft').click()
  const mailProgramLink = link('Open in mail program: Zoë Zola')
  expect(await mailProgramLink.getAttribute('href')).toBe(
    'mailto:zoe@example.org?subject=One%20question&body=Do%20bees%20swim%3F',
  )
  expect(await button('Send 1 letter').count()).toBe(0)
  await button('I sent it: Zoë Zola').click()
  await status.getByText('Zoë Zola: sent by hand').waitFor()
  await timeline.getByText('Letter “One question” sent by hand').waitFor()
  await button('Write from scratch').waitFor()
  expect(await statesInDatabase()).toEqual(['sent'])

  await desk.ada.client.rpc('desk_set_blind', { blind: true }).throwOnError()
  await page.reload()
  await note.waitFor()
  await timeline.getByText('Letter “(hidden)” sent by hand').waitFor()
  expect(await button('Write from scratch').count()).toBe(0)
})

test('sending more than thirty letters requires typing their number, and repeated letters require a tick', async ({
  visitor,
}) => {
  const stored = await desk.store(
    Array.from({ length: 32 }, (_, index) => ({ ...zoe, email: `zoe.${index}@example.org` })),
  )
  await desk.setStatus(stored, 'accepted')
  await storeLetter(desk.sql, stored[0]?.id ?? '', { template: 'accepted', state: 'done' })
  await desk.sql`update private.letters set state = 'draft'`
  const page = await desk.open(visitor, '/letters/drafts/accepted')
  const { button, dialog, status } = getDesk(page)
  await button('Send 32 letters').click()
  await dialog.getByRole('heading', { name: 'Send 31 letters?' }).waitFor()
  await dialog.getByLabel(/^Send again to people who already have this letter/).check()
  await dialog.getByLabel('Type the number of letters, 32').fill('31')
  await dialog.getByRole('button', { name: 'Send 32 letters' }).click()
  await dialog.getByText('This is not the number of letters.').waitFor()
  await dialog.getByLabel('Type the number of letters, 32').fill('32')
  // Another organiser discards one of the drafts meanwhile.
  await desk.sql`
    update private.letters set state = 'dropped'
    where application_id = ${stored[1]?.id ?? ''}`
  await dialog.getByRole('button', { name: 'Send 32 letters' }).click()
  await status.getByText('31 letters on the way, 1 not sent').waitFor()
  await page.getByRole('alert').getByText('no longer a draft').waitFor()
})

test('sixty drafts are read by keys, one is left out, and Send stays visible with the number of letters', async ({
  visitor,
}) => {
  const stored = await desk.store(people(60))
  await desk.setStatus(stored, 'accepted')
  const { client } = desk.ada
  const { data } = await client.rpc('desk_drafts', { occasion: 'accepted' }).throwOnError()
  const { id: letter, seen } = (data as { letters: { id: string; seen: string }[] }).letters[2] ?? {}
  await client.rpc('desk_edit', { letter, seen, subject: 'For one', body: 'Bring bees.' }).throwOnError()
  const page = await desk.open(visitor, '/letters/drafts/accepted')
  const { button, dialog, heading, link, status } = getDesk(page)
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
  expect(await focused(page)).toBe(`INPUT: ${second} `)
  // Leave this draft out.
  await page.keyboard.press('x')
  await button('Send 59 letters').waitFor()
  await page.keyboard.press('j')
  await letterOf(third).waitFor()
  // Tab moves from the row to its letter.
  await page.keyboard.press('Tab')
  expect(await focused(page)).toBe(`A: ${third}`)
  // Unsaved text is not sent, even if another letter is shown.
  await button(`Edit: ${third}`).click()
  await page.getByLabel('Text', { exact: true }).press('End')
  await page.keyboard.type('!')
  await button('Send 58 letters').waitFor()
  await recipient(page, `${third} Not saved`).click()
  await page.keyboard.press('k')
  await letterOf(second).waitFor()
  await page.keyboard.press('k')
  await page.keyboard.press('k')
  await letterOf(first).getByText('Bring bees.').waitFor()
  expect(await focused(page)).toContain(`INPUT: ${first}`)
  await recipient(page, `${third} Not saved`).check()
  await button('Cancel').click()
  await letterOf(third).waitFor()
  await button('Send 59 letters').waitFor()

  // Leaving the screen for an application does not restore the tick.
  await link(third ?? '').click()
  await heading(third ?? '').waitFor()
  await page.goBack()
  await letterOf(third).waitFor()
  expect(await page.getByLabel(`Send to ${second}`, { exact: true }).isChecked()).toBe(false)
  await button(`Remove: ${third}`).press('Enter')
  await status.getByText(`${third}: draft removed`).waitFor()
  await expect.poll(() => focused(page)).toMatch(/^INPUT: Person \d+ $/)
  expect(await accessibilityProblems(page)).toEqual([])

  await button('Send 58 letters').click()
  await dialog.getByLabel('Type the number of letters, 58').fill('58')
  await dialog.getByRole('button', { name: 'Send 58 letters' }).click()
  await status.getByText('58 letters on the way').waitFor()
  await expect.poll(names).toEqual([second])
  expect((await statesInDatabase()).filter((state) => state === 'waiting')).toHaveLength(58)
  expect((await statesInDatabase()).filter((state) => state === 'draft')).toHaveLength(1)
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

test("a refused letter shows the mail server's reply, and can be retried", async ({ visitor }) => {
  const [stored] = await desk.store([{ ...zoe, team_size: '' }])
  await desk.setStatus(stored ? [stored] : [], 'accepted')
  await releaseDrafts(desk.sql, {
    state: 'failed',
    isRefused: true,
    attempts: 1,
    reply: '550 5.1.1 no such user',
  })
  await desk.sql`update private.postman set paused_until = now() + interval '1 hour', problem = '535 wrong password'`
  const page = await desk.open(visitor, '/letters')
  const { button, heading, link, status } = getDesk(page)
  await page
    .getByText(/^The mail server is not accepting letters\. Next try after .*: 535 wrong password$/)
    .waitFor()
  await desk.sql`update private.postman set paused_until = '-infinity', problem = ''`
  await page.getByLabel('Replies go to').fill('desk@example.org')
  await button('Save').click()
  await status.getByText('Saved. Replies go to desk@example.org.').waitFor()
  await button('Stop all letters').click()
  await status.getByText('All letters are stopped.').waitFor()
  await button('Resume sending').click()
  await status.getByText('Sending resumed.').waitFor()
  await link('1 was refused').click()
  await page.getByText('550 5.1.1 no such user').waitFor()
  await link('Zoë Zola').click()
  await page.getByText('Letter “Accepted” was refused by the mail server: 550 5.1.1 no such user').waitFor()
  await page.goBack()
  await button('Try again: Zoë Zola').click()
  await status.getByText('Zoë Zola: will be retried').waitFor()
  expect(await statesInDatabase()).toEqual(['waiting'])

  const refuse = () =>
    desk.sql`
      update private.deliveries set state = 'failed', is_refused = true, due_at = null, reply = '550 again'
      where kind = 'letter'`
  await refuse()
  await page.goto(`${desk.origin}/desk#/applications/${stored?.id}`)
  await button('Draft from template').click()
  await page.getByText('Their letter was refused.').waitFor()
  await link('Deal with that letter').click()
  await heading('Refused letters').waitFor()
  await button('Send to another address: Zoë Zola').click()
  await page.getByLabel('Address', { exact: true }).fill('zola@example.org')
  await button('Send there').click()
  await status.getByText('Zoë Zola: on the way to zola@example.org').waitFor()
  expect(await statesInDatabase()).toEqual(['waiting'])
  await refuse()
  await page.reload()
  await button('I told them another way: Zoë Zola').click()
  await status.getByText('Zoë Zola: told another way').waitFor()
  expect(await statesInDatabase()).toEqual(['sent'])
  await page.goto(`${desk.origin}/desk#/applications/${stored?.id}`)
  await page
    .locator('.application-timeline')
    .getByText('Letters go to zola@example.org from now on')
    .waitFor()
  await page.locator('.application-timeline').getByText('Letter “Accepted” told another way').waitFor()
  await link('Door').click()
  await heading('Door').waitFor()
  await link('History').click()
  await page.getByText('All letters stopped').waitFor()
})

test('receipts are switched on without overwriting another organiser’s changes, and can only quote the first name', async ({
  visitor,
}) => {
  visitor.allowConsoleError(failedRequest)
  const page = await desk.open(visitor, '/letters')
  const { button, heading, link, status } = getDesk(page)
  const receipts = page.getByRole('switch', { name: 'Send a receipt to each applicant' })
  const settings = () => desk.sql`select receipts, reply_to, version from private.letter_settings`
  const [initial] = await settings()
  const version = Number(initial?.['version'])
  expect(await receipts.isChecked()).toBe(false)
  await receipts.check()
  await status.getByText('Receipts are on.').waitFor()
  expect(await settings()).toEqual([{ receipts: true, reply_to: '', version: version + 1 }])

  // Another organiser changes the address meanwhile, which the switch leaves as it is.
  await conflictWithNextCall(page, 'desk_set_letters', { version: version + 1, reply_to: 'bob@example.org' })
  await receipts.uncheck()
  await status.getByText('Receipts are off.').waitFor()
  await expect.poll(() => page.getByLabel('Replies go to').inputValue()).toBe('bob@example.org')
  // Text in the field beside the switch is neither lost nor treated as another organiser's change.
  await page.getByLabel('Replies go to').fill('desk@example.org')
  await receipts.check()
  await status.getByText('Receipts are on.').waitFor()
  expect(await page.getByRole('alert').filter({ hasText: /./ }).count()).toBe(0)
  await button('Save').click()
  await status.getByText('Saved. Replies go to desk@example.org.').waitFor()
  expect(await settings()).toEqual([{ receipts: true, reply_to: 'desk@example.org', version: version + 5 }])

  await link('Edit the receipt').click()
  await heading('Template: Receipt').waitFor()
  expect(await page.locator('.templates-placeholders button').allTextContents()).toEqual(['{{first_name}}'])
  expect(await button('Remove').count()).toBe(0)
  await desk.store([zoe])
  await page.reload()
  await page.locator('.letters-letter').getByText('Hello Zoë,').waitFor()
  await page.getByLabel('Text', { exact: true }).fill('Hello {{first_name}} of {{company}}')
  await page.getByText('Unknown placeholder: company').waitFor()
  await button('Save').click()
  await page.getByText('Not saved. There is no placeholder {{company}} in a receipt.').waitFor()

  await link('Door').click()
  await link('History').click()
  await page.getByText('Receipts switched on').first().waitFor()
})

test('a waiting receipt is shown and can be stopped, and organisers cannot write receipts', async ({
  visitor,
}) => {
  const stored = await desk.store([zoe, alan])
  const [waiting, sent] = stored.map(({ id }) => id)
  const receipt = { template: 'received', kind: 'receipt' } as const
  await storeLetter(desk.sql, waiting ?? '', { ...receipt, dueIn: 3_600 })
  await storeLetter(desk.sql, sent ?? '', { ...receipt, state: 'done' })
  const page = await desk.open(visitor, '/letters')
  const { button, heading, link, status, timeline } = getDesk(page)
  await page.getByText('Nobody yet. People you accept').waitFor()
  await link('1 is on the way').click()
  const row = page.locator('.letters-outbox li')
  expect(await row.locator('.letters-about').textContent()).toContain('Zoë ZolaReceipt')
  await link('Zoë Zola').click()
  await page.getByText(/^Receipt will be sent/).waitFor()
  expect(await page.getByLabel('Letter', { exact: true }).count()).toBe(0)
  await page.goBack()
  await button('Stop: Zoë Zola').click()
  await status.getByText('Zoë Zola: stopped', { exact: true }).waitFor()
  await page.getByText('No letters here.').waitFor()
  expect(await statesInDatabase()).toEqual(['sent'])
  await link('Applications').click()
  await link('Zoë Zola').click()
  await timeline.getByText('Receipt stopped', { exact: true }).waitFor()
  await link('Back').click()
  await link('Alan Turing').click()
  await heading('Alan Turing').waitFor()
  await timeline.getByText('Receipt sent', { exact: true }).waitFor()
  expect(await page.getByText('released').count()).toBe(0)
})

test('with an automation but no mail server, the automation gets decision letters, and others are sent by hand', async ({
  visitor,
}) => {
  await setMailSender(false, true)
  const [stored] = await desk.store([zoe])
  await desk.setStatus(stored ? [stored] : [], 'accepted')
  await desk.sql`
    insert into private.templates (name, subject, body) values ('Travel', 'How to get there', 'By train.')`
  await desk.ada.client.rpc('desk_write', { applications: [stored?.id], occasion: 'Travel' }).throwOnError()
  const page = await desk.open(visitor, '/letters')
  const { button, dialog, link, timeline } = getDesk(page)
  await page.getByText(/^This site sends no email itself\. It passes/).waitFor()
  await link('Review 1 draft: Travel').click()
  await link('Open in mail program: Zoë Zola').waitFor()
  expect(await button('Send 1 letter').count()).toBe(0)
  await link('Back').click()
  await link('Review 1 draft: Accepted').click()
  await button('Send 1 letter').click()
  await dialog.getByRole('button', { name: 'Send 1 letter' }).click()
  await page.getByText('No drafts here. Others are under Letters.').waitFor()
  await link('Back').click()
  await link('1 is on the way').click()
  await button('Stop: Zoë Zola, to the automation').waitFor()
  await link('Zoë Zola').click()
  await timeline.getByText('“Accepted” on the way to the automation').waitFor()
  await page.getByText(/^“Accepted” will be passed to the automation after /).waitFor()
  await desk.sql`
    update private.deliveries set state = 'failed', due_at = null, attempts = 9, reply = 'HTTP 500'
    where kind = 'decision' and state = 'waiting'`
  await page.reload()
  const letterState = page.locator('.application-letter')
  await letterState.getByText('“Accepted” did not reach the automation after 9 tries: HTTP 500').waitFor()
  expect(await page.getByText('mail server').count()).toBe(0)
  await desk.sql`
    update private.deliveries set state = 'done', done_at = now() where kind = 'decision' and state = 'failed'`
  await page.reload()
  await timeline.getByText('“Accepted” passed to the automation').waitFor()
  await link('Applications').click()
  await getDesk(page).tab('Accepted').click()
  await page.locator('.rows-letter').getByText('No answer yet').waitFor()
})

test('an organiser chooses notices of applications, and the choice is shown once it is saved', async ({
  visitor,
}) => {
  visitor.allowConsoleError(failedRequest)
  await setMailSender(false)
  const page = await desk.open(visitor, '/account')
  const { status } = getDesk(page)
  const group = page.getByRole('group', { name: 'Emails to ada@example.org' })
  const choice = (name: string | RegExp) => group.getByRole('radio', { name })
  const storedNotices = async () =>
    (
      await desk.sql`select email, notices from private.organisers join auth.users on id = account_id order by email`
    )
      .map(({ email, notices }) => `${email as string} ${notices as string}`)
      .join()
  await choice('None').waitFor()
  expect(await choice('None').isChecked()).toBe(true)
  await choice(/^One a day/).click()
  await status.getByText('Saved.', { exact: true }).waitFor()
  await expect.poll(() => choice(/^One a day/).isChecked()).toBe(true)
  await page.getByText('No email is sent until this site has a mail server.').waitFor()
  const next = page.getByText(/^The next daily email is sent .*\d{4}, \d\d:\d\d\.$/)
  expect(await next.count()).toBe(0)
  await setMailSender(true)
  await page.reload()
  await next.waitFor()
  expect(await storedNotices()).toBe('ada@example.org daily,bob@example.org off')

  const address = '**/rpc/desk_set_notices'
  await page.route(address, (route) =>
    route.fulfill({ status: 400, json: { code: '22023', message: 'It is too late.' } }),
  )
  await choice(/^One for each/).click()
  await page.getByRole('alert').getByText('Not saved. It is too late.').waitFor()
  expect(await choice(/^One a day/).isChecked()).toBe(true)
  await page.unroute(address)
  await choice(/^One for each/).click()
  await expect.poll(storedNotices).toBe('ada@example.org each,bob@example.org off')
  await page.reload()
  await choice(/^One for each/).waitFor()
  expect(await choice(/^One for each/).isChecked()).toBe(true)
})

test('a test of the unsaved text is emailed to the organiser, and saves nothing', async ({ visitor }) => {
  const mailServer = await startMailServer()
  const deskWithMail = await startDesk({
    SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
    MAIL_FROM: 'hello@example.org',
    MAIL_PER_MINUTE: '0',
  })
  const { sql } = deskWithMail
  await sql`insert into public.retreat_applications ${valuesOf([anApplication(zoe), anApplication(alan)])}`
  const signIn = signPageIn(await deskWithMail.signedIn('grace@example.org'))
  await expect.poll(() => sql`select from private.postman where seen_at > '-infinity'`).toHaveLength(1)
  const page = await visitor.open(`${deskWithMail.origin}/desk#/letters/templates/declined`, {}, signIn)
  const { button, status } = getDesk(page)
  await page.getByLabel('Preview with').fill('alan')
  await foundApplicant(page, 'Alan Turing').click()
  await page.locator('.letters-letter').getByText('Hello Alan,').waitFor()
  await page.getByLabel('Subject').fill('For {{first_name}} alone')
  await page.getByLabel('Text', { exact: true }).fill('Not saved, {{last_name}}.')
  await button('Send me a test').click()
  await status.getByText('A test is on the way to grace@example.org.').waitFor()
  const [mail] = await mailServer.waitFor(1, 'grace@example.org')
  expect(mail?.subject).toBe('[Test] For Alan alone')
  expect(mail?.text).toContain('Not saved, Turing.')
  expect(await sql`select from private.templates where body like 'Not saved%'`).toHaveLength(0)
  // The page closes before its server stops, since later requests would be console errors.
  await page.close()
})

test('a check of the mail server shows what the checking server found', async ({ visitor }) => {
  const mailServer = await startMailServer()
  const { names } = await startNameServer({ 'example.org': { MX: ['mx.example.org'] } })
  const page = await desk.open(visitor, '/letters')
  const { button } = getDesk(page)
  await button('Check the mail server').click()
  await button('Checking…').waitFor()
  const server = startMailChecks({
    sql: desk.sql,
    mailServer: mailServerAt(mailServer.port),
    resolver: names,
    log: { warn() {} },
  })
  await page.getByText('Connection: ok').waitFor()
  await page.getByText('Sender: wrong').waitFor()
  await page.getByText('example.org has no SPF').waitFor()
  await page.getByText('Please tell the person who runs this site.').waitFor()
  await button('Check the mail server').waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
  await server.stop()
  await mailServer.close()
  await desk.sql`update private.postman set checked_at = '-infinity', findings = '[]'`
})

test('without a server that sends emails no test email is offered, and a refused test email says why', async ({
  visitor,
}) => {
  visitor.allowConsoleError(failedRequest)
  await desk.store([zoe])
  const page = await desk.open(visitor, '/letters/templates/accepted')
  const { button } = getDesk(page)
  await page.getByLabel('Text', { exact: true }).fill('Hello {{frist_name}}')
  await button('Send me a test').click()
  await page.getByRole('alert').getByText('There is no placeholder {{frist_name}}.').waitFor()
  expect(await desk.sql`select from private.deliveries where kind = 'test'`).toHaveLength(0)
  await setMailSender(false, true)
  await page.reload()
  await page.locator('.letters-letter').waitFor()
  expect(await button('Send me a test').count()).toBe(0)
})

test('a template is previewed with a chosen applicant, and a blind reader sees no name', async ({
  visitor,
}) => {
  await desk.store([zoe, { ...alan, reason: 'To count my bees.' }, { ...alan, last_name: 'Ada' }])
  const page = await desk.open(visitor, '/letters/templates/declined')
  const { button } = getDesk(page)
  const letter = page.locator('.letters-letter')
  await letter.getByText('Hello Zoë,').waitFor()
  const search = page.getByLabel('Preview with')
  await search.fill('nobody')
  await page.getByText('Nothing was found.').waitFor()
  await search.fill('alan')
  await expect.poll(() => page.locator('.templates-with li').count()).toBe(2)
  await foundApplicant(page, 'Alan Turing').click()
  await letter.getByText('Hello Alan,').waitFor()
  await page.getByText('With Alan Turing', { exact: false }).first().waitFor()
  expect(await search.inputValue()).toBe('')
  await expect.poll(() => page.locator('.templates-with li').count()).toBe(0)
  await expect.poll(() => search.evaluate((field) => field === document.activeElement)).toBe(true)
  await button('Newest').click()
  await letter.getByText('Hello Zoë,').waitFor()
  await page.getByText('With the newest application: Zoë Zola').waitFor()

  await desk.ada.client.rpc('desk_set_blind', { blind: true }).throwOnError()
  await page.reload()
  await letter.getByText('Hello (hidden),').waitFor()
  await search.fill('bees')
  await foundApplicant(page, 'Application').click()
  await page.getByRole('button', { name: 'Newest' }).waitFor()
  expect(await page.locator('#content').textContent()).not.toMatch(/Alan|Turing|Zoë/)
})

test('letters to hundreds of applicants are drafted in steps, with progress and a way to stop', async ({
  visitor,
}) => {
  await desk.store(people(250))
  await desk.sql`
    insert into private.templates (name, subject, body) values ('Travel', 'How to get there', 'By train.')`
  const page = await desk.open(visitor, '/?status=all')
  const { button, dialog } = getDesk(page)
  await page.getByLabel('Select all shown').check()
  await button('Select all 250 that match').click()
  await page.getByText('250 selected').first().waitFor()
  await button('Draft letters…').click()
  await dialog.getByRole('heading', { name: 'Draft letters to 250 applicants' }).waitFor()
  await dialog.getByLabel('Template').selectOption('Travel')
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  let calls = 0
  await page.route('**/rpc/desk_write', async (route) => {
    calls += 1
    if (calls === 2) await released
    await route.continue()
  })
  await dialog.getByRole('button', { name: 'Draft 250 letters' }).click()
  await dialog.getByText('100 of 250').waitFor()
  await dialog.getByRole('button', { name: 'Stop' }).click()
  release()
  await dialog.getByText('200 drafted. Stopped: 50 not drafted.').waitFor()
  expect(calls).toBe(2)
  await dialog.getByRole('button', { name: 'Draft 250 letters' }).click()
  await dialog.getByText('50 drafted, 200 already had one.').waitFor()
  expect(await statesInDatabase()).toHaveLength(250)
  // Closing the dialog ends it after the step that was sent, and says so.
  const step = new Promise<void>((resolve) => (release = resolve))
  const request = page.waitForRequest('**/rpc/desk_write')
  await page.unroute('**/rpc/desk_write')
  await page.route('**/rpc/desk_write', async (route) => {
    await step
    await route.continue()
  })
  await dialog.getByRole('button', { name: 'Draft 250 letters' }).click()
  await request
  await dialog.getByRole('button', { name: 'Close' }).click()
  await expect.poll(() => dialog.count()).toBe(0)
  release()
  await getDesk(page).status.getByText('100 already had one. Stopped: 150 not drafted.').waitFor()
})

test('letters to several applicants are drafted together, and the result is announced with numbers', async ({
  visitor,
}) => {
  const stored = await desk.store([zoe, alan, { ...zoe, last_name: 'Young' }])
  await desk.setStatus(stored.slice(0, 1), 'accepted')
  await desk.sql`
    insert into private.templates (name, subject, body) values ('Travel', 'How to get there', 'By train.')`
  const page = await desk.open(visitor, '/?status=all')
  const { button, dialog, heading, select, status } = getDesk(page)
  const openDraftDialog = async () => {
    await button('Draft letters…').click()
    await dialog.getByRole('heading').waitFor()
  }
  for (const name of ['Zoë Zola', 'Alan Turing', 'Zoë Young']) await select(name).check()
  await openDraftDialog()
  await dialog.getByRole('heading', { name: 'Draft letters to 3 applicants' }).waitFor()
  const template = dialog.getByLabel('Template')
  await expect
    .poll(() => template.locator('option').allTextContents())
    .toEqual(['Choose a template', 'Accepted', 'Waitlisted', 'Declined', 'Travel'])
  const draftButton = dialog.getByRole('button', { name: 'Draft 3 letters' })
  // The statuses differ, so no template is preselected.
  expect(await template.inputValue()).toBe('')
  expect(await draftButton.getAttribute('aria-disabled')).toBe('true')
  await draftButton.press('Enter')
  // The decision already made a draft.
  await template.selectOption('Accepted')
  await draftButton.click()
  const result = '1 already had one, 2 skipped: another status.'
  await dialog.getByText(result).waitFor()
  await status.getByText(result).waitFor()
  await template.selectOption('Travel')
  await expect.poll(() => dialog.getByText(result).count()).toBe(0)
  await draftButton.click()
  await dialog.getByText('3 drafted.').waitFor()
  expect(await statesInDatabase()).toEqual(['draft', 'draft', 'draft', 'draft'])
  for (const width of [320, 768]) {
    await resize(page, { width, height: 650 })
    expect(await accessibilityProblems(page), `${width} px`).toEqual([])
    // The area behind the dialog scrolls separately.
    expect(await overflow(page, '#content > :not(.decisions-bar), .visually-hidden')).toEqual({
      scroll: 0,
      wide: [],
    })
  }
  await dialog.getByRole('link', { name: 'Review drafts' }).click()
  await heading('Drafts: Travel').waitFor()
  await expect.poll(() => recipient(page).count()).toBe(3)

  await page.goBack()
  await select('Zoë Young').check()
  await openDraftDialog()
  await dialog.getByRole('heading', { name: 'Draft a letter to Zoë Young' }).waitFor()
  expect(await dialog.getByText('drafted').count()).toBe(0)
  await dialog.getByRole('button', { name: 'Close' }).click()
  expect(await statesInDatabase()).toHaveLength(4)
})
