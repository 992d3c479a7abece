import { screen, waitFor, within } from '@testing-library/dom'
import { beforeEach, expect, test } from 'vitest'

import { people } from '../support/applicants.ts'
import { deskScreensForTestFile } from '../support/opened-desk.ts'
import { letterStates, setMailSender, storeLetter } from '../support/letters.ts'

const desk = deskScreensForTestFile()

/** Finds the text in the form of a dialog, whose announcement has the same words. */
const inForm = { selector: 'form *' }

beforeEach(() => setMailSender(desk.sql, true))

const zoe = { first_name: 'Zoë', last_name: 'Zola', email: 'zoe@example.org' }
const alan = { first_name: 'Alan', last_name: 'Turing', email: 'alan@example.org' }

const findText = () => screen.findByLabelText<HTMLTextAreaElement>('Text')
const textIsGone = () => waitFor(() => expect(screen.queryByLabelText('Text')).toBeNull())
const findDialog = async (name: string | RegExp) => within(await screen.findByRole('dialog', { name }))
const dialogIsGone = () => waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
const storeTravelTemplate = () => desk.sql`
  insert into private.templates (name, subject, body) values ('Travel', 'How to get there', 'By train.')`

test('text typed into a draft during a save is kept', async () => {
  await desk.setStatus(await desk.store([zoe]), 'accepted')
  const { user, network, press, fill, announced } = await desk.open('/letters/drafts/accepted')
  await press('Edit: Zoë Zola')
  const text = await findText()
  await fill(text, 'Dear Zoë')
  const release = network.hold('desk_edit')
  await press('Save')
  await waitFor(() => expect(network.calls).toContain('desk_edit'))
  await user.type(text, ', bring your bees.')
  release()
  await announced('Zoë Zola: changed')
  expect(text.value).toBe('Dear Zoë, bring your bees.')
  await press('Save')
  await screen.findByText('Dear Zoë, bring your bees.')
  await textIsGone()
})

test('text typed into a draft is shown for copying while the decision is another one, and returns with the decision', async () => {
  const stored = await desk.store([zoe])
  await desk.setStatus(stored, 'accepted')
  const { press, fill, reload } = await desk.open('/letters/drafts/accepted')
  await press('Edit: Zoë Zola')
  await fill(await findText(), 'Dear Zoë,')
  // Another organiser changes the decision meanwhile, and changes it back.
  await desk.setStatus(stored, 'declined')
  reload()
  await screen.findByText(/^This is no longer a draft/)
  await screen.findByText('Dear Zoë,')
  expect(screen.queryByLabelText('Text')).toBeNull()
  await desk.setStatus(stored, 'accepted')
  reload()
  expect((await findText()).value).toBe('Dear Zoë,')
  await press('Save')
  await screen.findByText(/Edited for this person\./)
})

test('while blind reading is on, unsaved texts of drafts and their recipients are hidden, also after a reload', async () => {
  const stored = await desk.store([zoe, alan])
  await desk.setStatus(stored, 'accepted')
  const { user, press, follow, fill, goTo, reload, activateWindow, announced } =
    await desk.open('/letters/drafts/accepted')
  for (const name of ['Zoë Zola', 'Alan Turing']) {
    await user.click(await screen.findByRole('radio', { name: new RegExp(`^${name}`) }))
    await press(`Edit: ${name}`)
    await fill(await findText(), `Dear ${name}, bring bees.`)
  }
  // One of the drafts is gone, so that its text is shown for copying.
  await desk.setStatus([stored[1] ?? { id: '' }], 'declined')
  reload()
  await screen.findByText('Dear Alan Turing, bring bees.')

  await follow('Account')
  await user.click(await screen.findByRole('switch', { name: 'Blind reading' }))
  await announced('Blind reading is on.')
  const isHidden = async () => {
    await screen.findByText('The address and your unsaved changes are hidden: blind reading is on.')
    // Nothing is pending afterwards.
    await activateWindow()
    expect(document.documentElement.outerHTML).not.toMatch(/Zoë|Alan|bees/)
    expect(screen.queryByLabelText('Text')).toBeNull()
  }
  goTo('/letters/drafts/accepted')
  await isHidden()
  reload()
  await isHidden()
  for (const { id } of stored) {
    goTo(`/applications/${id}`)
    await screen.findByRole('heading', { name: 'Letters' })
    await activateWindow()
    expect(document.documentElement.outerHTML).not.toMatch(/Zoë|Alan|bees/)
  }

  await desk.ada.client.rpc('desk_set_blind', { blind: false }).throwOnError()
  goTo('/letters/drafts/accepted')
  reload()
  await screen.findByText('Dear Alan Turing, bring bees.')
  expect((await findText()).value).toBe('Dear Zoë Zola, bring bees.')
})

test('the editor of a letter stays open while somebody types, and typing never makes a decision', async () => {
  const [{ id } = { id: '' }] = await desk.store([zoe])
  const { user, press, follow, fill, reload } = await desk.open(`/applications/${id}`)
  await press('Write from scratch')
  await fill(await findText(), 'Hello')
  // Leave the screen, return with the browser's Back, empty the text, and type a different one.
  await follow('Back')
  await textIsGone()
  history.back()
  await user.clear(await findText())
  await user.type(await findText(), 'Thanks for applying')
  expect((await findText()).value).toBe('Thanks for applying')
  await fill(screen.getByLabelText('Subject'), 'Bees')
  await press('Save draft')
  await press('Edit: Zoë Zola')
  await user.type(await findText(), ' x')
  reload()
  // While it is edited, the text equals the saved text for a moment.
  await user.type(await findText(), '{Backspace}{Backspace} as a wasp')
  expect((await findText()).value).toBe('Thanks for applying as a wasp')
  expect(await desk.statusOf(id)).toBe('new')
})

test('an organiser writes to one person without a template, stops the letter, sends it, and finds its text', async () => {
  const [{ id } = { id: '' }] = await desk.store([zoe])
  const { user, press, follow, fill, reload, announced } = await desk.open(`/applications/${id}`)
  await press('Write from scratch')
  const subject = await screen.findByLabelText('Subject')
  expect(document.activeElement).toBe(subject)
  await fill(subject, 'One question')
  await fill(await findText(), 'Dear {{first_name}},')
  await press('Save draft')
  await screen.findByText(/^Draft not saved\. A letter to one person has no placeholders/)
  await fill(await findText(), 'Dear Zoë,\n\ndo bees swim?')
  await press('Save draft')
  await announced('Draft saved. Nothing has been sent.')
  const draft = await screen.findByRole('article', { name: 'Draft of a letter' })
  within(draft).getByText('Dear Zoë, do bees swim?')
  within(draft).getByText('zoe@example.org')
  expect(draft.textContent).not.toContain('template')
  await textIsGone()

  await follow('Letters')
  await screen.findByText('1 draft without a template, written to one person')
  await follow('Review 1 draft: Personal letter')
  await screen.findByRole('heading', { name: 'Drafts: Personal letter' })
  await press('Edit: Zoë Zola')
  await fill(await findText(), 'Dear Zoë,\n\ndo your bees swim?')
  await press('Save')
  await announced('Zoë Zola: changed')
  await follow('Zoë Zola')
  await screen.findByRole('heading', { name: 'Zoë Zola', level: 1 })
  await screen.findByText('Dear Zoë, do your bees swim?')

  const send = async () => {
    await press('Send 1 letter')
    const dialog = await findDialog('Send 1 letter?')
    dialog.getByText('It will be sent in a minute. Until then you can stop it.')
    await user.click(dialog.getByRole('button', { name: 'Send 1 letter' }))
    await announced('1 letter on the way')
    await screen.findByRole('button', { name: 'Stop 1 letter' })
  }
  await send()
  await waitFor(() => expect(screen.queryByRole('article', { name: 'Draft of a letter' })).toBeNull())
  await press('Stop 1 letter')
  await announced('1 letter stopped.')
  within(await screen.findByRole('article', { name: 'Draft of a letter' })).getByText(/do your bees swim\?/)
  expect(await letterStates(desk.sql)).toEqual(['draft'])
  await send()
  await desk.sql`
    update private.deliveries set state = 'done', done_at = now(), due_at = null
    where kind = 'letter' and state = 'waiting'`
  reload()
  await screen.findByText('Letter “One question” sent')
  const [, sent = document.body] = screen.getAllByText('Letter “One question” on the way')
  expect(sent.closest('details')?.textContent).toContain('do your bees swim?')
  expect(screen.queryByRole('button', { name: 'Stop 1 letter' })).toBeNull()
})

test('without a mail server a letter to one person opens in the mail program, and a blind reader cannot write one', async () => {
  await setMailSender(desk.sql, false)
  const [{ id } = { id: '' }] = await desk.store([zoe])
  const { press, fill, reload, announced } = await desk.open(`/applications/${id}`)
  await press('Write from scratch')
  await fill(await screen.findByLabelText('Subject'), 'One question')
  await fill(await findText(), 'Do bees swim?')
  await press('Save draft')
  const link = await screen.findByRole('link', { name: 'Open in mail program: Zoë Zola' })
  expect(link.getAttribute('href')).toBe(
    'mailto:zoe@example.org?subject=One%20question&body=Do%20bees%20swim%3F',
  )
  expect(screen.queryByRole('button', { name: 'Send 1 letter' })).toBeNull()
  await press('Mark as sent: Zoë Zola')
  await announced('Zoë Zola: sent by hand')
  await screen.findByText('Letter “One question” sent by hand')
  await screen.findByRole('button', { name: 'Write from scratch' })
  expect(await letterStates(desk.sql)).toEqual(['sent'])

  await desk.ada.client.rpc('desk_set_blind', { blind: true }).throwOnError()
  reload()
  await screen.findByText('Letter “(hidden)” sent by hand')
  expect(screen.queryByRole('button', { name: 'Write from scratch' })).toBeNull()
})

test('sending more than thirty letters requires typing their number, and repeated letters require a tick', async () => {
  const stored = await desk.store(
    Array.from({ length: 32 }, (_, index) => ({ ...zoe, email: `zoe.${index}@example.org` })),
  )
  await desk.setStatus(stored, 'accepted')
  await storeLetter(desk.sql, stored[0]?.id ?? '', { template: 'accepted', state: 'done' })
  await desk.sql`update private.letters set state = 'draft'`
  const { user, press, fill, announced } = await desk.open('/letters/drafts/accepted')
  await press('Send 32 letters')
  const dialog = await findDialog('Send 31 letters?')
  await user.click(dialog.getByLabelText(/^Send again to people who already have this letter/))
  const number = dialog.getByLabelText('Type the number of letters, 32')
  await fill(number, '31')
  await user.click(dialog.getByRole('button', { name: 'Send 32 letters' }))
  await dialog.findByText(/^This is not the number of letters\./)
  await fill(number, '32')
  // Another organiser discards one of the drafts meanwhile.
  await desk.sql`
    update private.letters set state = 'dropped' where application_id = ${stored[1]?.id ?? ''}`
  await user.click(dialog.getByRole('button', { name: 'Send 32 letters' }))
  await announced('31 letters on the way, 1 not sent')
  await screen.findByText(/no longer a draft/)
  const states = await letterStates(desk.sql)
  expect(states.filter((state) => state === 'waiting')).toHaveLength(31)
})

test('before letters to surely mistyped addresses are sent, the draft, its row and the dialog say so', async () => {
  const stored = await desk.store([
    { ...zoe, email: 'zoe@gmail.com' },
    ...['gmial.com', 'hotmail.con', 'yaho.com', 'outlok.com'].map((domain) => ({
      ...zoe,
      email: `zoe@${domain}`,
    })),
  ])
  await desk.setStatus(stored, 'accepted')
  const { user, press } = await desk.open('/letters/drafts/accepted')
  await screen.findAllByText('Mistyped address')
  const recipients = screen.getAllByRole('radio')
  const noticed: number[] = []
  for (const recipient of recipients) {
    await user.click(recipient)
    noticed.push(screen.queryAllByText(/^This address is surely mistyped: /).length)
  }
  expect(noticed.toSorted((one, other) => one - other)).toEqual([0, 1, 1, 1, 1])
  expect(screen.getAllByText('Mistyped address')).toHaveLength(4)
  await press('Send 5 letters')
  const dialog = await findDialog('Send 5 letters?')
  const notice = await dialog.findByText(/^Letters do not arrive at these mistyped addresses: /)
  expect(notice.textContent).toMatch(/: zoe@\w+\.\w+, zoe@\w+\.\w+, zoe@\w+\.\w+ and 1 more$/)
  expect(notice.textContent).not.toContain('gmail.com')
})

test('while the address of the page is not known, the review and the dialog say that no link for an RSVP is sent', async () => {
  const [ada] = await desk.store([{ first_name: 'Ada', last_name: 'Lovelace' }])
  await desk.setStatus([{ id: ada?.id ?? '' }], 'accepted')
  const { press, goTo } = await desk.open('/letters/drafts/accepted')
  const warning =
    'The page’s address is not known, so no link for an RSVP is sent. Ask your operator to set SITE_URL first.'
  await screen.findByText(warning)
  await press('Send 1 letter')
  await within(await screen.findByRole('dialog')).findByText(warning)
  await press('Cancel')
  await desk.sql`update private.places set site = 'https://unplugged.example'`
  goTo('/history')
  await screen.findByRole('heading', { level: 1, name: 'History' })
  goTo('/letters/drafts/accepted')
  await waitFor(() => expect(screen.queryByText(warning)).toBeNull())
})

test('neither a draft that was left out by a key nor one with unsaved text is sent', async () => {
  await desk.setStatus(await desk.store(people(3)), 'accepted')
  const { user, press, follow, announced } = await desk.open('/letters/drafts/accepted')
  const names = () => [...document.querySelectorAll('.drafts-recipient bdi')].map((each) => each.textContent)
  await screen.findByRole('button', { name: 'Send 3 letters' })
  const [, second = '', third = ''] = names()
  await user.keyboard('jx')
  await screen.findByRole('button', { name: 'Send 2 letters' })
  await user.keyboard('j')
  await press(`Edit: ${third}`)
  await user.type(await findText(), '!')
  await screen.findByRole('button', { name: 'Send 1 letter' })
  // The unsaved text stays while another letter is shown.
  await user.click(screen.getByRole('radio', { name: `${third} Not saved` }))
  await user.keyboard('k')
  await screen.findByRole('article', { name: second })
  await user.click(screen.getByRole('radio', { name: `${third} Not saved` }))
  await press('Cancel')
  await screen.findByRole('button', { name: 'Send 2 letters' })

  // Leaving the screen for an application does not restore the tick.
  await follow(third)
  await screen.findByRole('heading', { name: third, level: 1 })
  history.back()
  await screen.findByRole('article', { name: third })
  expect(screen.getByLabelText<HTMLInputElement>(`Send to ${second}`).checked).toBe(false)
  await press('Send 2 letters')
  const dialog = await findDialog('Send 2 letters?')
  await user.click(dialog.getByRole('button', { name: 'Send 2 letters' }))
  await announced('2 letters on the way')
  await waitFor(() => expect(names()).toEqual([second]))
  expect(await letterStates(desk.sql)).toEqual(['draft', 'waiting', 'waiting'])
})

test('letters to hundreds of applicants are drafted in steps, with progress and a way to stop', async () => {
  await desk.store(people(250))
  await storeTravelTemplate()
  const { user, network, press, announced } = await desk.open('/?status=all')
  await user.click(await screen.findByLabelText('Select all shown'))
  await press('Select all 250 that match')
  await screen.findAllByText('250 selected')
  await press('Draft letters…')
  const dialog = await findDialog('Draft letters to 250 applicants')
  await user.selectOptions(await dialog.findByLabelText('Template'), 'Travel')
  const draft = () => user.click(dialog.getByRole('button', { name: 'Draft 250 letters' }))
  const stepCount = () => network.calls.filter((name) => name === 'desk_write').length
  let release = () => {}
  const hold = network.route('desk_write', ({ send }) => {
    hold()
    release = network.hold('desk_write')
    return send()
  })
  await draft()
  await dialog.findByText('100 of 250')
  await user.click(dialog.getByRole('button', { name: 'Stop' }))
  release()
  await dialog.findByText('200 drafted. Stopped: 50 not drafted.', inForm)
  expect(stepCount()).toBe(2)
  await draft()
  await dialog.findByText('50 drafted, 200 already had one.', inForm)
  expect(await letterStates(desk.sql)).toHaveLength(250)
  const before = stepCount()
  // Nothing is left to draft.
  await draft()
  expect(stepCount()).toBe(before)
  await user.click(dialog.getByRole('button', { name: 'Close' }))
  await dialogIsGone()
  // Closing the dialog ends it after the step that was sent, and says so.
  await press('Draft letters…')
  const opened = await findDialog('Draft letters to 250 applicants')
  await user.selectOptions(await opened.findByLabelText('Template'), 'Travel')
  const releaseStep = network.hold('desk_write')
  await user.click(opened.getByRole('button', { name: 'Draft 250 letters' }))
  await waitFor(() => expect(stepCount()).toBe(before + 1))
  await user.click(opened.getByRole('button', { name: 'Close' }))
  await dialogIsGone()
  releaseStep()
  await announced('100 already had one. Stopped: 150 not drafted.')
})

test('letters to several applicants are drafted together, and the result is announced with numbers', async () => {
  const stored = await desk.store([zoe, alan, { ...zoe, last_name: 'Young' }])
  await desk.setStatus(stored.slice(0, 1), 'accepted')
  await storeTravelTemplate()
  const { user, press, follow, announced } = await desk.open('/?status=all')
  const select = async (name: string) =>
    user.click(await screen.findByRole('checkbox', { name: `Select ${name}` }))
  for (const name of ['Zoë Zola', 'Alan Turing', 'Zoë Young']) await select(name)
  await press('Draft letters…')
  const dialog = await findDialog('Draft letters to 3 applicants')
  const template = await dialog.findByLabelText<HTMLSelectElement>('Template')
  expect([...template.options].map((option) => option.textContent)).toEqual([
    'Choose a template',
    'Accepted',
    'Waitlisted',
    'Declined',
    'Reminder',
    'Confirmation',
    'Question reminder',
    'Travel',
  ])
  const draftButton = dialog.getByRole('button', { name: 'Draft 3 letters' })
  // The statuses differ, so no template is preselected.
  expect(template.value).toBe('')
  expect(draftButton.getAttribute('aria-disabled')).toBe('true')
  await user.click(draftButton)
  // The decision already made a draft.
  await user.selectOptions(template, 'Accepted')
  await user.click(draftButton)
  const result = '1 already had one, 2 skipped: another status.'
  await dialog.findByText(result, inForm)
  await announced(result)
  await user.selectOptions(template, 'Travel')
  await waitFor(() => expect(dialog.queryByText(result, inForm)).toBeNull())
  await user.click(draftButton)
  await dialog.findByText('3 drafted.', inForm)
  expect(await letterStates(desk.sql)).toEqual(['draft', 'draft', 'draft', 'draft'])
  await follow('Review drafts')
  await screen.findByRole('heading', { name: 'Drafts: Travel' })
  expect(await screen.findAllByRole('radio')).toHaveLength(3)

  history.back()
  await select('Zoë Young')
  await press('Draft letters…')
  const again = await findDialog('Draft a letter to Zoë Young')
  expect(again.queryByText(/drafted/)).toBeNull()
  await user.click(again.getByRole('button', { name: 'Close' }))
  expect(await letterStates(desk.sql)).toHaveLength(4)
})
