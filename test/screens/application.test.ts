import { screen, waitFor, within } from '@testing-library/dom'
import { expect, test } from 'vitest'

import { hiddenName, people } from '../support/applicants.ts'
import { button, focusedWords, heading, link, names, pill, timeline } from '../support/desk-parts.ts'
import { deskScreensForTestFile } from '../support/opened-desk.ts'
import { refusal } from '../support/intercepted-fetch.ts'

const desk = deskScreensForTestFile()

const note = () => screen.findByLabelText<HTMLTextAreaElement>('Note')

/** What the open application shows as the answer to a question of the form. */
const answerTo = (label: string) =>
  screen.getByText(label, { selector: 'dt' }).nextElementSibling?.textContent

test('a surely mistyped email is marked, and one press writes to the right one', async () => {
  await desk.store([
    { first_name: 'Ada', last_name: 'L', email: 'ada@gmial.com' },
    { first_name: 'Grace', last_name: 'H', email: 'grace@gmail.com' },
  ])
  const { follow } = await desk.open()
  await follow('Ada L')
  await heading('Ada L')
  const right = await link('Write to ada@gmail.com')
  expect(right.getAttribute('href')).toBe('mailto:ada@gmail.com')
  await follow('Next')
  await heading('Grace H')
  expect(screen.queryByText(/mistyped/)).toBeNull()
})

test('an application shows every form answer unchanged, and only valid addresses become links', async () => {
  const reason = '  To think.\r\n\r\n\tWithout a <b>screen</b>.\n'
  const [whole, hostile] = await desk.store([
    { first_name: 'Ada', last_name: 'L', reason, linkedin: 'in/ada', phone: '+44 (20) 7946 0958' },
    {
      first_name: '<i>Eve</i>',
      last_name: 'M',
      email: 'eve',
      phone: 'call me',
      linkedin: 'javascript:alert(1)',
      paid_solution: 'custom',
      custom_solution: 'A cabin\nby the sea',
      team_size: '',
    },
  ])
  const { follow } = await desk.open()
  await follow('Ada L')
  await heading('Ada L')
  expect(answerTo('Why do you want to attend this retreat?')).toBe(reason)
  const hrefOf = async (name: string) => (await link(name)).getAttribute('href')
  expect(await hrefOf(whole?.email ?? '')).toBe(`mailto:${whole?.email}`)
  expect(await hrefOf('+44 (20) 7946 0958')).toBe('tel:+442079460958')
  expect(await hrefOf('in/ada')).toBe('https://www.linkedin.com/in/ada')
  expect((await link('in/ada')).getAttribute('rel')).toBe('noopener noreferrer')
  await follow('Back')
  await follow('<i>Eve</i> M')
  await heading('<i>Eve</i> M')
  const answers = within(await screen.findByRole('region', { name: 'Answers' }))
  expect(answers.queryAllByRole('link')).toEqual([])
  expect(answerTo('LinkedIn')).toBe(hostile?.linkedin)
  expect(answerTo('Custom answer')).toBe('A cabin\nby the sea')
  expect(answerTo('Team size')).toBe('No answer')
})

test('an application shows its position in the list, and Next also works across pages of the list', async () => {
  await desk.store(people(101))
  const { user, follow, reload } = await desk.open()
  await user.click(await screen.findByText('Person 50'))
  await screen.findByText('50 of 101, 101 to read')
  await follow('Next')
  await heading('Person 51')
  await screen.findByText('51 of 101, 101 to read')
  await follow('Previous')
  await heading('Person 50')
  reload()
  await screen.findByText('50 of 101, 101 to read')
  await follow('Back')
  await user.click(await screen.findByText('Person 1'))
  await heading('Person 1')
  await screen.findByText('1 of 101, 101 to read')
  expect(screen.queryByRole('link', { name: 'Previous' })).toBeNull()
})

test('the timeline shows each event with its time and person, including the webhook’s delivery', async () => {
  const [{ id } = { id: '' }] = await desk.store([{ first_name: 'Ada', last_name: 'L' }])
  await desk.sql`
    update private.deliveries set state = 'done', attempts = 1, reply_status = 200, due_at = null, done_at = now()
    where kind = 'application'`
  await desk.setStatus([{ id }], 'waitlisted', desk.bob)
  const { fill, press, announced } = await desk.open(`/applications/${id}?status=waitlisted`)
  await press('Decline')
  await announced('Ada L: Declined')
  await fill(await note(), 'Too far away.')
  await press('Add note')
  const moment = String.raw`\d+ [A-Z][a-z]+ 20\d\d, \d\d:\d\d`
  await waitFor(() =>
    expect(timeline()).toEqual([
      expect.stringMatching(`^${moment}Received$`),
      expect.stringMatching(String.raw`^${moment}Passed on to the connected system$`),
      expect.stringMatching(String.raw`^${moment}, bob@example.orgWaitlisted \(was New\)$`),
      expect.stringMatching(String.raw`^${moment}, ada@example.orgDeclined \(was Waitlisted\)$`),
      expect.stringMatching(`^${moment}, ada@example.orgToo far away.$`),
    ]),
  )
})

test('an unsaved note stays with its application, an added note has author and time, and neither changes the status', async () => {
  const [{ id } = { id: '' }] = await desk.store(people(2))
  const { fill, follow, press, announced, reload } = await desk.open(`/applications/${id}`)
  await fill(await note(), 'A strong one.\nAsk her.')
  await follow('Next')
  await heading('Person 2')
  expect((await note()).value).toBe('')
  await follow('Previous')
  await heading('Person 1')
  expect((await note()).value).toBe('A strong one.\nAsk her.')
  await press('Add note')
  await announced('Note added')
  expect(timeline().at(-1)).toMatch(/^\d+ .* 20\d\d, \d\d:\d\d, ada@example.org.*A strong one.\nAsk her.$/)
  expect((await note()).value).toBe('')
  expect(pill()).toBe('New')
  reload()
  await waitFor(() => expect(timeline()).toHaveLength(2))
  expect((await note()).value).toBe('')
  expect(await desk.statusOf(id)).toBe('new')
  expect(await desk.sql`select kind, author, application_id from private.history`).toEqual([
    { kind: 'note', author: 'ada@example.org', application_id: id },
  ])
})

test('a refused note is reported, and its text is kept', async () => {
  const [{ id } = { id: '' }] = await desk.store(people(1))
  const { network, fill, press, announced } = await desk.open(`/applications/${id}`)
  const end = network.route('desk_note', async () => refusal('The disk is full.'))
  await fill(await note(), 'A strong one.')
  await press('Add note')
  await screen.findByText('Note not added. The disk is full.')
  expect((await note()).value).toBe('A strong one.')
  end()
  await press('Add note')
  await announced('Note added')
})

test('a reveal lasts until the screen is left, and is recorded once despite repeated requests', async () => {
  const [{ id } = { id: '' }] = await desk.store([
    { first_name: 'Ada', last_name: 'L', email: 'ada@example.com' },
  ])
  await desk.sql`update private.organisers set blind = true`
  const revealed = () => desk.sql`select author from private.history where application_id = ${id}`
  const { network, follow, press } = await desk.open(`/applications/${id}`)
  // The first reveal happens, and its response is an error.
  const end = network.route('desk_reveal', async ({ send }) => {
    await send()
    return refusal('The disk is full.')
  })
  await press('Reveal')
  await screen.findByText(/The disk is full\./)
  end()
  await press('Reveal')
  await heading('Ada L')
  await link('ada@example.com')
  await waitFor(() => expect(focusedWords()).toBe('Ada L'))
  const reveals = () => timeline().filter((each) => each.includes('Revealed name, '))
  await waitFor(() => expect(reveals()).toEqual([expect.stringContaining('ada@example.org')]))
  await waitFor(() => expect(screen.queryByText(/The disk is full\./)).toBeNull())
  expect(screen.queryByRole('button', { name: 'Reveal' })).toBeNull()
  expect(await revealed()).toEqual([{ author: 'ada@example.org' }])

  await follow('Back')
  await heading('Applications')
  await follow(hiddenName)
  await heading(hiddenName)
  // The focus stays where the organiser has moved it meanwhile.
  const release = network.hold('desk_reveal')
  await press('Reveal')
  ;(await note()).focus()
  release()
  await heading('Ada L')
  await waitFor(() => expect(reveals()).toHaveLength(2))
  expect(focusedWords()).toBe('Note')
  expect(await revealed()).toHaveLength(2)
})

test('typing the email address erases an application for good, together with a ticked one of the same address', async () => {
  const sameEmail = { email: 'ada@example.com' }
  const [first, , third] = await desk.store([
    { first_name: 'Ada', last_name: 'L', ...sameEmail, company: 'Engines' },
    { first_name: 'Grace', last_name: 'H' },
    { first_name: 'Ada', last_name: 'B', ...sameEmail, company: 'Looms' },
    { first_name: 'Ada', last_name: 'C', ...sameEmail, company: 'Cards' },
  ])
  const { user, fill, follow, press, announced } = await desk.open()
  await follow('Ada L')
  await press('Decline')
  await button('Undo: Ada L, Declined')
  await fill(await note(), 'Half a thought.')
  await press('Erase')
  const dialog = within(await screen.findByRole('dialog'))
  dialog.getByText(/Earlier backups have it until they are removed/)
  await fill(dialog.getByLabelText(/^Type the email/), 'grace@example.com')
  await user.click(dialog.getByRole('button', { name: 'Erase for good' }))
  await dialog.findByText(/Not erased\. This is not the email of this application\./)
  expect(await desk.sql`select from public.retreat_applications`).toHaveLength(4)
  await user.click(dialog.getByLabelText(/^Looms\b/))
  await fill(dialog.getByLabelText(/^Type the email/), ' ADA@example.com ')
  await user.click(dialog.getByRole('button', { name: 'Erase for good' }))
  await announced('Ada L: erased, 2 applications')
  await waitFor(() => expect(names()).toEqual(['Grace H', 'Ada C']))
  expect(
    await desk.sql`select from public.retreat_applications where id in (${first?.id ?? ''}, ${third?.id ?? ''})`,
  ).toHaveLength(0)
  expect(await desk.sql`select author, kind, detail from private.history`).toEqual([
    { author: 'ada@example.org', kind: 'erased', detail: { applications: 2 } },
  ])
  expect(Object.keys(sessionStorage)).toEqual([])
  // Undo does not name an erased person either.
  expect(screen.queryByText('Ada L,')).toBeNull()
})
