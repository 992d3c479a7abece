import { screen, waitFor, within } from '@testing-library/dom'
import { beforeEach, expect, test } from 'vitest'

import { startMailChecks } from '../../src/server/mail/requested-checks.ts'
import { atTestEnd } from '../support/cleanup.ts'
import { deskScreensForTestFile } from '../support/opened-desk.ts'
import { letterStates, releaseDrafts, setMailSender, storeLetter } from '../support/letters.ts'
import { startNameServer } from '../support/name-server.ts'
import { refusal } from '../support/intercepted-fetch.ts'
import { mailServerAt } from '../support/sign-in-server.ts'

const desk = deskScreensForTestFile()

beforeEach(() => setMailSender(desk.sql, true))

const zoe = { first_name: 'Zoë', last_name: 'Zola', email: 'zoe@example.org' }
const alan = { first_name: 'Alan', last_name: 'Turing', email: 'alan@example.org' }

const ada = { first_name: 'Ada', last_name: 'Lovelace', email: 'ada@example.org' }
const grace = { first_name: 'Grace', last_name: 'Hopper', email: 'grace@example.org' }

const tooLate = () => Promise.resolve(refusal('It is too late.', 400, '22023'))
const bar = () => screen.findByRole('region', { name: 'On their way' })
const barIsGone = () =>
  waitFor(() => expect(screen.queryByRole('region', { name: 'On their way' })).toBeNull())
/** Waits for an event of an application's timeline, by its sentence. */
const event = async (sentence: string | RegExp) => {
  await screen.findByRole('heading', { name: 'What happened' })
  const timeline = document.querySelector<HTMLElement>('.application-timeline')
  return within(timeline ?? document.body).findByText(sentence)
}

test('people who were told without their RSVP link are offered it, under Letters and at each of them', async () => {
  const [first, second] = await desk.store([zoe, alan])
  await desk.setStatus([{ id: first?.id ?? '' }, { id: second?.id ?? '' }], 'accepted')
  await desk.sql`update private.invitations set told_at = now(), is_without_link = true`
  const { press, goTo, announced } = await desk.open('/letters')
  await screen.findByText(
    '2 accepted people were told without their RSVP link. The page’s address is not known. Once your operator has set SITE_URL, you can draft reminders with the link here.',
  )
  expect(screen.queryByRole('button', { name: /^Draft \d/ })).toBeNull()
  await desk.sql`update private.places set site = 'https://unplugged.example'`
  goTo(`/applications/${second?.id}`)
  await screen.findByText(/^Alan Turing was told without the RSVP link\./)
  goTo('/letters')
  await press('Draft 2 reminders')
  await announced('2 reminders drafted. Nothing has been sent.')
  await screen.findByRole('heading', { name: 'Drafts: Reminder' })
  expect(await screen.findAllByRole('radio')).toHaveLength(2)
  goTo(`/applications/${second?.id}`)
  await screen.findByRole('heading', { name: 'Are they coming?' })
  await waitFor(() => expect(screen.queryByText(/was told without/)).toBeNull())
})

test('two decisions make drafts, one draft is changed, and both letters are released and then stopped in time', async () => {
  const stored = await desk.store([zoe, alan])
  const { user, press, follow, fill, reload, announced } = await desk.open('/?status=all')
  await user.click(await screen.findByRole('checkbox', { name: 'Select Zoë Zola' }))
  await user.click(screen.getByRole('checkbox', { name: 'Select Alan Turing' }))
  await press('Accept')
  await announced('2 applications: Accepted')

  await follow('Letters')
  await screen.findByText('2 accepted applicants')
  await follow('Review 2 drafts: Decisions')
  await screen.findByRole('heading', { name: 'Drafts of decisions' })
  expect(await screen.findAllByRole('radio')).toHaveLength(2)
  await user.click(screen.getByRole('radio', { name: 'Zoë Zola' }))
  await screen.findByText('zoe@example.org')

  await press('Edit: Zoë Zola')
  const text = screen.getByLabelText<HTMLTextAreaElement>('Text')
  expect(text.value).toMatch(/^Hello Zoë,\n/)
  await fill(text, 'Dear Zoë,\n\nbring your bees.')
  await press('Save')
  await announced('Zoë Zola: changed')
  const draft = await screen.findByRole('article', { name: 'Zoë Zola' })
  await within(draft).findByText('Dear Zoë, bring your bees.')
  expect(draft.textContent).toContain('Edited for this person.')

  await press('Send 2 letters')
  const dialog = within(await screen.findByRole('dialog', { name: 'Send 2 letters?' }))
  dialog.getByText('They will be sent in a minute. Until then you can stop them.')
  await user.click(dialog.getByRole('button', { name: 'Send 2 letters' }))
  expect((await bar()).querySelector('p')?.textContent).toMatch(/^2 letters will be sent in (1:00|0:\d\d)\.$/)
  await screen.findByText('No drafts here.')
  expect(await letterStates(desk.sql)).toEqual(['waiting', 'waiting'])
  // The bar also appears after a reload, which clears the state of the page.
  reload()
  await bar()

  // The bar appears on every screen with letters.
  await follow('Back')
  await screen.findByRole('link', { name: '2 are on the way' })
  await bar()
  await follow('2 are on the way')
  await screen.findByRole('button', { name: 'Stop: Alan Turing' })
  await press('Stop 2 letters')
  await announced('2 letters stopped.')
  await barIsGone()
  expect(await letterStates(desk.sql)).toEqual(['draft', 'draft'])
  await screen.findByText('No letters here.')

  await follow('Letters')
  await follow('Review 2 drafts: Decisions')
  await user.click(await screen.findByRole('radio', { name: 'Zoë Zola Edited' }))
  await screen.findByText('Dear Zoë, bring your bees.')
  await follow('Zoë Zola')
  await screen.findByRole('heading', { name: 'Zoë Zola', level: 1 })
  await event('Letter “Accepted” on the way')
  await event('Letter “Accepted” stopped')
  expect(await desk.statusOf(stored[0]?.id ?? '')).toBe('accepted')
})

test('the drafts of all decisions are read and sent together, and each kind can be left out', async () => {
  const stored = await desk.store([zoe, alan, ada, grace])
  const statuses = ['declined', 'accepted', 'waitlisted', 'accepted'] as const
  for (const [index, application] of stored.entries())
    await desk.setStatus([application], statuses[index] ?? 'new')
  // Somebody who was told before has one of the two places.
  const [coming] = await desk.store([{ first_name: 'Mary', email: 'mary@example.org' }])
  await desk.setStatus(coming ? [coming] : [], 'accepted')
  await releaseDrafts(desk.sql, { state: 'done' }, coming?.id)
  await desk.sql`
    update private.invitations set told_at = now(), deadline = private.today() + 10 where application_id = ${coming?.id ?? ''}`
  await desk.sql`update private.places set places = 2, zone = 'UTC'`
  const { user, follow, press, announced } = await desk.open('/?status=all')
  const told = () => [...document.querySelectorAll('.rows-letter')].map(({ textContent }) => textContent)
  const waits = 'Draft waits'
  await waitFor(() => expect(told()).toEqual(['No answer yet', waits, waits, waits, waits]))
  await follow('Letters')
  await screen.findByText('2 accepted, 1 waitlisted, 1 declined applicants')
  await follow('Review 4 drafts: Decisions')
  const lists = await screen.findAllByRole('list', { name: /^(Accepted|Waitlisted|Declined)$/ })
  expect(lists.map((list) => list.querySelectorAll('li').length)).toEqual([2, 1, 1])
  expect(screen.getByRole('link', { name: 'Template: Waitlisted' }).getAttribute('href')).toBe(
    '#/letters/templates/waitlisted',
  )
  await user.click(screen.getByRole('checkbox', { name: 'Send 1 declined' }))
  await press('Send 3 letters')
  const first = within(await screen.findByRole('dialog', { name: 'Send 3 letters?' }))
  first.getByText('2 acceptances, 1 waitlist letter. To Alan Turing, Grace Hopper, Ada Lovelace.')
  first.getByText(/^First RSVP deadline: \d+ \w+ \d{4}\.$/)
  await first.findByText('1 of 2 places is taken. With these 2 acceptances it is 3.')
  await user.click(first.getByRole('button', { name: 'Cancel' }))

  await user.click(screen.getByRole('checkbox', { name: 'Send all 4' }))
  await press('Send 4 letters')
  const all = within(await screen.findByRole('dialog', { name: 'Send 4 letters?' }))
  all.getByText(/ To .+, .+, .+ and 1 more\.$/)
  await user.click(all.getByRole('button', { name: 'Send 4 letters' }))
  await announced('4 letters on the way')
  await screen.findByText('No drafts here.')
  await follow('Applications')
  await follow(/^All/)
  const leaves = 'On the way'
  await waitFor(() => expect(told()).toEqual(['No answer yet', leaves, leaves, leaves, leaves]))
})

test('one letter of several that were sent together is stopped at its person', async () => {
  const stored = await desk.store([zoe, alan])
  const { user, press, follow, goTo, announced } = await desk.open('/?status=all')
  await user.click(await screen.findByRole('checkbox', { name: 'Select Zoë Zola' }))
  await user.click(screen.getByRole('checkbox', { name: 'Select Alan Turing' }))
  await press('Accept')
  await announced('2 applications: Accepted')
  await follow('Letters')
  await follow('Review 2 drafts: Decisions')
  await press('Send 2 letters')
  await user.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Send 2 letters' }))
  await bar()
  goTo(`/applications/${stored[0]?.id}`)
  await screen.findByRole('heading', { name: 'Zoë Zola', level: 1 })
  expect((await bar()).querySelector('p')?.textContent).toMatch(/^1 letter will be sent in (1:00|0:\d\d)\.$/)
  await press('Stop 1 letter')
  await announced('1 letter stopped.')
  await barIsGone()
  expect((await letterStates(desk.sql)).toSorted()).toEqual(['draft', 'waiting'])
})

test('at its person the countdown of a letter ends, and then the letter was sent', async () => {
  const [zola] = await desk.store([zoe])
  await desk.setStatus(zola ? [zola] : [], 'declined')
  await releaseDrafts(desk.sql, { dueIn: 4 })
  const { announced } = await desk.open(`/applications/${zola?.id}`)
  await screen.findByText('On the way')
  const { textContent: words } = (await bar()).querySelector('p') ?? {}
  expect(words).toMatch(/^1 letter will be sent in 0:0\d\.$/)
  // Nothing is announced while it counts down.
  expect(screen.queryByRole('status')?.textContent).toBe('')
  await announced('1 letter is being sent.')
  await barIsGone()
  await desk.sql`
    update private.deliveries set state = 'done', done_at = now(), due_at = null where kind = 'letter'`
  await screen.findByText(/^Told at \d\d:\d\d$/, {}, { timeout: 8_000 })
})

test('letters that others stopped have no countdown any more, even if stopping them failed here', async () => {
  const [zola, turing] = await desk.store([zoe, alan])
  await storeLetter(desk.sql, zola?.id ?? '', { template: 'Travel', dueIn: 55 })
  const { user, network, press, announced } = await desk.open('/letters')
  /** Another act on the screen reads the letters again. */
  const readAgain = async () =>
    user.click(await screen.findByRole('switch', { name: 'Send a receipt to each applicant' }))
  network.route('desk_withdraw', tooLate)
  await press('Stop 1 letter')
  await within(await bar()).findByText('Not stopped. It is too late.')
  // A colleague stops it.
  await desk.sql`delete from private.deliveries`
  await readAgain()
  await barIsGone()

  await storeLetter(desk.sql, turing?.id ?? '', { template: 'Travel', dueIn: 55 })
  await readAgain()
  await press('Stop 1 letter')
  await within(await bar()).findByText('Not stopped. It is too late.')
  await press('Stop all letters')
  await announced('All letters are stopped.')
  await barIsGone()
  expect(await desk.sql`select stopped from private.postman`).toEqual([{ stopped: true }])
})

test("a refused letter shows the mail server's reply, and can be retried, sent to another address, or settled", async () => {
  const stored = await desk.store([{ ...zoe, team_size: '' }])
  await desk.setStatus(stored, 'accepted')
  await releaseDrafts(desk.sql, {
    state: 'failed',
    isRefused: true,
    attempts: 1,
    reply: '550 5.1.1 no such user',
  })
  const { press, follow, fill, goTo, reload, announced } = await desk.open('/letters')
  await follow('1 was refused')
  await screen.findByText('550 5.1.1 no such user')
  await follow('Zoë Zola')
  await screen.findByText('Letter “Accepted” was refused by the mail server: 550 5.1.1 no such user')
  history.back()
  await press('Try again: Zoë Zola')
  await announced('Zoë Zola: will be retried')
  expect(await letterStates(desk.sql)).toEqual(['waiting'])

  const refuse = () =>
    desk.sql`
      update private.deliveries set state = 'failed', is_refused = true, due_at = null, reply = '550 again'
      where kind = 'letter'`
  await refuse()
  goTo(`/applications/${stored[0]?.id}`)
  await press('Draft from template')
  await screen.findByText('Their letter was refused.')
  await follow('Deal with that letter')
  await press('Send to another address: Zoë Zola')
  await fill(await screen.findByLabelText('Address'), 'zola@example.org')
  await press('Send there')
  await announced('Zoë Zola: on the way to zola@example.org')
  expect(await letterStates(desk.sql)).toEqual(['waiting'])
  await refuse()
  reload()
  await press('I told them another way: Zoë Zola')
  await announced('Zoë Zola: contacted another way')
  expect(await letterStates(desk.sql)).toEqual(['sent'])
  goTo(`/applications/${stored[0]?.id}`)
  await event('Letters go to zola@example.org from now on')
  await event('Letter “Accepted” contacted another way')
})

test('one button tries all refused letters again that can be tried again', async () => {
  const people = Array.from({ length: 60 }, (_, n) => ({ ...zoe, email: `zoe${n}@example.org` }))
  const stored = await desk.store([...people, alan])
  const refused = {
    template: 'Travel',
    state: 'failed',
    isRefused: true,
    attempts: 1,
    reply: '550 no',
  } as const
  for (const { id } of stored.slice(0, 60)) await storeLetter(desk.sql, id, refused)
  await storeLetter(desk.sql, stored[60]?.id ?? '', { ...refused, template: 'received', kind: 'receipt' })
  // A receipt is not sent after a day.
  await desk.sql`update private.deliveries set queued_at = now() - interval '2 days' where kind = 'receipt'`
  const { press, announced } = await desk.open('/letters/outbox/refused')
  await press('Try all 60 again')
  await announced('60 letters will be retried.')
  expect(await letterStates(desk.sql)).toEqual(['refused', ...Array.from({ length: 60 }, () => 'waiting')])
  await screen.findByRole('button', { name: 'Try again: Alan Turing' })
  expect(screen.queryByRole('button', { name: /^Try all/ })).toBeNull()
})

test('an organiser reads why the mail server accepts no letters, stops all letters and resumes, and sets the reply address', async () => {
  await desk.sql`update private.postman set paused_until = now() + interval '1 hour', problem = '535 wrong password'`
  const { press, follow, fill, announced } = await desk.open('/letters')
  await screen.findByText(
    /^The mail server is not accepting letters\. Next try after .*: 535 wrong password$/,
  )
  await fill(screen.getByLabelText('Replies go to'), 'desk@example.org')
  await press('Save')
  await announced('Saved. Replies go to desk@example.org.')
  expect(await desk.sql`select reply_to from private.letter_settings`).toEqual([
    { reply_to: 'desk@example.org' },
  ])
  await press('Stop all letters')
  await announced('All letters are stopped.')
  await press('Resume sending')
  await announced('Sending resumed.')
  await follow('Retreat')
  await follow('History')
  await screen.findByText('All letters stopped')
})

test('receipts are switched on without overwriting another organiser’s changes', async () => {
  const { user, network, press, follow, fill, announced } = await desk.open('/letters')
  const receipts = await screen.findByRole('switch', { name: 'Send a receipt to each applicant' })
  const settings = () => desk.sql`select receipts, reply_to, version from private.letter_settings`
  const [initial] = await settings()
  const version = Number(initial?.['version'])
  expect(receipts.ariaChecked ?? receipts.getAttribute('aria-checked')).toBe('false')
  await user.click(receipts)
  await announced('Receipts are on.')
  expect(await settings()).toEqual([{ receipts: true, reply_to: '', version: version + 1 }])

  // Another organiser changes the address meanwhile, which the switch leaves as it is.
  network.beforeNext('desk_set_letters', () =>
    desk.bob.client
      .rpc('desk_set_letters', { version: version + 1, reply_to: 'bob@example.org' })
      .throwOnError(),
  )
  await user.click(receipts)
  await announced('Receipts are off.')
  const replyTo = screen.getByLabelText<HTMLInputElement>('Replies go to')
  await waitFor(() => expect(replyTo.value).toBe('bob@example.org'))
  // Text in the field beside the switch is neither lost nor treated as another organiser's change.
  await fill(replyTo, 'desk@example.org')
  await user.click(receipts)
  await announced('Receipts are on.')
  expect(screen.queryByText(/Somebody else changed this/)).toBeNull()
  await press('Save')
  await announced('Saved. Replies go to desk@example.org.')
  expect(await settings()).toEqual([{ receipts: true, reply_to: 'desk@example.org', version: version + 5 }])
  await follow('Retreat')
  await follow('History')
  await screen.findAllByText('Receipts switched on')
})

test('a waiting receipt is shown and can be stopped, and organisers cannot write receipts', async () => {
  const [waiting, sent] = await desk.store([zoe, alan])
  const receipt = { template: 'received', kind: 'receipt' } as const
  await storeLetter(desk.sql, waiting?.id ?? '', { ...receipt, dueIn: 3_600 })
  await storeLetter(desk.sql, sent?.id ?? '', { ...receipt, state: 'done' })
  const { press, follow, announced } = await desk.open('/letters')
  await screen.findByText(/^Nobody yet\. People you accept/)
  await follow('1 is on the way')
  expect((await screen.findByText('Receipt')).closest('li')?.textContent).toContain('Zoë ZolaReceipt')
  await follow('Zoë Zola')
  await screen.findByText(/^Receipt will be sent/)
  expect(screen.queryByLabelText('Letter')).toBeNull()
  history.back()
  await press('Stop: Zoë Zola')
  await announced('Zoë Zola: stopped')
  await screen.findByText('No letters here.')
  expect(await letterStates(desk.sql)).toEqual(['sent'])
  await follow('Applications')
  await follow('Zoë Zola')
  await event('Receipt stopped')
  await follow('Back')
  await follow('Alan Turing')
  await screen.findByRole('heading', { name: 'Alan Turing' })
  await event('Receipt sent')
  expect(screen.queryByText(/released/)).toBeNull()
})

test('with an automation but no mail server, the automation gets decision letters, and others are sent by hand', async () => {
  await setMailSender(desk.sql, false, true)
  const stored = await desk.store([zoe])
  await desk.setStatus(stored, 'accepted')
  await desk.sql`
    insert into private.templates (name, subject, body) values ('Travel', 'How to get there', 'By train.')`
  await desk.ada.client
    .rpc('desk_write', { applications: stored.map(({ id }) => id), occasion: 'Travel' })
    .throwOnError()
  const { user, press, follow, reload } = await desk.open('/letters')
  await screen.findByText(/^This site sends no email itself\. It passes/)
  await follow('Review 1 draft: Travel')
  await screen.findByRole('link', { name: 'Open in mail program: Zoë Zola' })
  expect(screen.queryByRole('button', { name: 'Send 1 letter' })).toBeNull()
  await follow('Back')
  await follow('Review 1 draft: Decisions')
  await press('Send 1 letter')
  const dialog = within(await screen.findByRole('dialog'))
  await user.click(dialog.getByRole('button', { name: 'Send 1 letter' }))
  expect((await screen.findByText(/^No drafts here\./)).textContent).toBe(
    'No drafts here. Others are under Letters.',
  )
  await follow('Back')
  await follow('1 is on the way')
  await screen.findByRole('button', { name: 'Stop: Zoë Zola, to the automation' })
  await follow('Zoë Zola')
  await event('“Accepted” on the way to the automation')
  await screen.findByText(/^“Accepted” will be passed to the automation after /)
  await desk.sql`
    update private.deliveries set state = 'failed', due_at = null, attempts = 9, reply = 'HTTP 500'
    where kind = 'decision' and state = 'waiting'`
  reload()
  await screen.findByText('“Accepted” did not reach the automation after 9 tries: HTTP 500')
  expect(screen.queryByText(/mail server/)).toBeNull()
  await desk.sql`
    update private.deliveries set state = 'done', done_at = now() where kind = 'decision' and state = 'failed'`
  reload()
  await event('“Accepted” passed to the automation')
  await follow('Applications')
  await follow(/^Accepted/)
  await screen.findByText('No answer yet')
})

test('without a server that sends emails, each letter opens in the mail program and is recorded as sent', async () => {
  await setMailSender(desk.sql, false)
  const stored = await desk.store([{ ...zoe, company: 'Bees & Sons' }])
  await desk.setStatus(stored, 'declined')
  const { user, press, follow, announced } = await desk.open('/letters')
  await screen.findByText(/^This site has no mail server yet/)
  await follow('Review 1 draft: Decisions')
  const link = await screen.findByRole('link', { name: 'Open in mail program: Zoë Zola' })
  const address = new URL(link.getAttribute('href') ?? '')
  expect(address.href.split('?')[0]).toBe('mailto:zoe@example.org')
  expect(address.searchParams.get('subject')).toBe('Your application to Unplugged')
  expect(address.searchParams.get('body')).toMatch(/^Hello Zoë,\r\n\r\n[^]*Bees & Sons[^]*Unplugged$/)
  expect(screen.queryByRole('button', { name: 'Send 1 letter' })).toBeNull()
  await press('Mark as sent: Zoë Zola')
  await announced('Zoë Zola: sent by hand')
  await screen.findByText('No drafts here.')

  await follow('Applications')
  await follow(/^Declined/)
  await screen.findByText(/^Told at /)
  await follow('Zoë Zola')
  await event('Letter “Declined” sent by hand')
  await user.selectOptions(screen.getByLabelText('Letter'), 'Declined')
  await press('Draft from template')
  await screen.findByText('They already have this letter.')
  await press('Draft again')
  await screen.findByText('The draft is below. Nothing has been sent.')
  expect(await letterStates(desk.sql)).toEqual(['draft', 'sent'])
})

test('an organiser chooses notices of applications, and the choice is shown once it is saved', async () => {
  await setMailSender(desk.sql, false)
  const { user, network, reload, announced } = await desk.open('/account')
  const choice = async (name: string | RegExp) =>
    within(
      await screen.findByRole('group', { name: 'Emails to ada@example.org' }),
    ).getByRole<HTMLInputElement>('radio', { name })
  const storedNotices = () => desk.sql<{ email: string; notices: string }[]>`
    select email, notices from private.organisers join auth.users on id = account_id order by email`
  expect((await choice('None')).checked).toBe(true)
  await user.click(await choice(/^One a day/))
  await announced('Saved.')
  expect((await choice(/^One a day/)).checked).toBe(true)
  await screen.findByText('No email is sent until this site has a mail server.')
  const next = /^The next daily email is sent .*\d{4}, \d\d:\d\d\.$/
  expect(screen.queryByText(next)).toBeNull()
  await setMailSender(desk.sql, true)
  reload()
  await screen.findByText(next)
  expect(await storedNotices()).toEqual([
    { email: 'ada@example.org', notices: 'daily' },
    { email: 'bob@example.org', notices: 'off' },
  ])

  const accept = network.route('desk_set_notices', tooLate)
  await user.click(await choice(/^One for each/))
  await screen.findByText('Not saved. It is too late.')
  expect((await choice(/^One a day/)).checked).toBe(true)
  accept()
  await user.click(await choice(/^One for each/))
  await waitFor(async () =>
    expect(await storedNotices()).toContainEqual({ email: 'ada@example.org', notices: 'each' }),
  )
  reload()
  expect((await choice(/^One for each/)).checked).toBe(true)
})

test('a check of the mail server shows what the checking server found', async () => {
  const { names } = await startNameServer({ 'example.org': { MX: ['mx.example.org'] } })
  const { press } = await desk.open('/letters')
  await press('Check the mail server')
  await screen.findByRole('button', { name: 'Checking…' })
  const checks = startMailChecks({
    sql: desk.sql,
    mailServer: mailServerAt(desk.server.mail.port),
    resolver: names,
    log: { warn() {} },
  })
  atTestEnd(() => checks.stop())
  await screen.findByText('Connection: ok')
  const sender = await screen.findByText('Sender: wrong')
  expect(sender.parentElement?.textContent).toContain('example.org has no SPF')
  await screen.findByText(/Please tell the person who runs this site\./)
  await screen.findByRole('button', { name: 'Check the mail server' })
})

test('a letter that came back is sent to another address, and the failed one is named where somebody writes to it', async () => {
  const [stored] = await desk.store([ada])
  await desk.setStatus(stored ? [stored] : [], 'accepted')
  await releaseDrafts(desk.sql, { state: 'done' })
  await desk.sql`update private.places set zone = 'UTC'`
  const { press, fill, announced } = await desk.open(`/applications/${stored?.id}`)
  await screen.findByText(/^Told at /)
  await press('It came back: Ada Lovelace, Accepted')
  await announced('Ada Lovelace, Accepted: came back')
  await screen.findByText('Letter refused')
  await event('Letter “Accepted” came back')
  const failed = /^A letter to this address was not delivered on \d+ \w+ \d{4}\.$/
  await press('Write from scratch')
  await screen.findByText(failed)
  await press('Discard')
  await waitFor(() => expect(screen.queryByText(failed)).toBeNull())

  await press('Send to another address: Ada Lovelace, Accepted')
  const address = await screen.findByLabelText('Address')
  await screen.findByText(failed)
  await fill(address, 'ada@example.net')
  await waitFor(() => expect(screen.queryByText(failed)).toBeNull())
  await press('Send there')
  await announced('Ada Lovelace, Accepted: on the way to ada@example.net')
  await screen.findByText('On the way')
})

test('somebody who retried meanwhile is named by a sentence, and the letter stays', async () => {
  const [stored] = await desk.store([ada])
  await desk.setStatus(stored ? [stored] : [], 'accepted')
  await releaseDrafts(desk.sql, { state: 'done' })
  const { press } = await desk.open(`/applications/${stored?.id}`)
  await screen.findByRole('button', { name: 'It came back: Ada Lovelace, Accepted' })
  await desk.sql`update private.deliveries set state = 'waiting', due_at = now() + interval '1 hour', done_at = null where kind = 'letter'`
  await press('It came back: Ada Lovelace, Accepted')
  await screen.findByText(/This letter has changed meanwhile: somebody dealt with it/)
})
