import { screen, waitFor, within } from '@testing-library/dom'
import { beforeEach, expect, test } from 'vitest'

import { dayOf } from '../../src/pages/desk/kit/format.ts'
import { focusedWords } from '../support/desk-parts.ts'
import { deskScreensForTestFile } from '../support/opened-desk.ts'
import { setMailSender } from '../support/letters.ts'

const desk = deskScreensForTestFile()

beforeEach(() => setMailSender(desk.sql, true))

const zoe = { first_name: 'Zoë', last_name: 'Zola', email: 'zoe@example.org' }
const alan = { first_name: 'Alan', last_name: 'Turing', email: 'alan@example.org' }

const findText = () => screen.findByLabelText<HTMLTextAreaElement>('Text')
const preview = async () => within(await screen.findByRole('region', { name: 'Preview' }))
/** The applicants that a search for the preview found. */
const found = () => [...document.querySelectorAll('.templates-found bdi')].map((name) => name.textContent)

test('a new template with an unknown placeholder is not saved, and keeps its typed text', async () => {
  await desk.store([zoe])
  const { press, fill, announced } = await desk.open('/letters')
  await fill(await screen.findByLabelText('Name of a new template'), 'Travel & 100% food')
  await press('New template')
  await screen.findByRole('heading', { name: 'Template: Travel & 100% food' })
  await fill(await screen.findByLabelText('Subject'), 'How to get there')
  const text = await findText()
  await fill(text, 'Hello {{frist_name}}, ')
  await screen.findByText('Unknown placeholder: frist_name')
  await press('Save')
  await screen.findByText('Not saved. There is no placeholder {{frist_name}}.')
  expect(text.value).toBe('Hello {{frist_name}}, ')

  await fill(text, 'Hello ')
  await press('{{first_name}}')
  expect(text.value).toBe('Hello {{first_name}}')
  await (await preview()).findByText('Hello Zoë')
  await press('Save')
  await announced('Template saved.')
})

test('a template that another organiser changed meanwhile is saved only on request, and removed after a confirmation', async () => {
  const occasion = 'Travel & 100% food'
  await desk.sql`insert into private.templates (name, subject, body) values (${occasion}, 'There', 'By train.')`
  const { user, network, press, fill, announced } = await desk.open(
    `/letters/templates/${encodeURIComponent(occasion)}`,
  )
  const text = await findText()
  await fill(text, 'Mine')
  network.beforeNext('desk_set_template', () =>
    desk.bob.client
      .rpc('desk_set_template', { occasion, version: 0, subject: 'Theirs', body: 'Theirs' })
      .throwOnError(),
  )
  await press('Save')
  await screen.findByText(/^Somebody else changed this template meanwhile\./)
  expect(text.value).toBe('Mine')
  // A further press of Save, or Enter in the subject, does not replace the other text.
  await press('Save')
  await user.type(screen.getByLabelText('Subject'), '{Enter}')
  await network.settled()
  expect(await desk.sql`select body from private.templates where name = ${occasion}`).toEqual([
    { body: 'Theirs' },
  ])
  await press('Save anyway')
  expect(focusedWords()).toBe('Save')
  await announced('Template saved.')
  expect(await desk.sql`select body, version from private.templates where name = ${occasion}`).toEqual([
    { body: 'Mine', version: 2 },
  ])
  await press('Remove')
  await press('Remove for good')
  await screen.findByRole('heading', { name: 'Letters' })
  await waitFor(() => expect(screen.queryByRole('link', { name: occasion })).toBeNull())
})

test('a receipt can only quote the retreat and the first name, with a link to withdraw, and cannot be removed', async () => {
  await desk.store([zoe])
  const { press, follow, fill } = await desk.open('/letters')
  await follow('Edit the receipt')
  await screen.findByRole('heading', { name: 'Template: Receipt' })
  await (await preview()).findByText(/^Hello Zoë,/)
  expect(screen.getAllByRole('button', { name: /^\{\{/ }).map(({ textContent }) => textContent)).toEqual([
    '{{retreat}}',
    '{{first_name}}',
    '{{withdraw_link}}',
  ])
  expect(screen.queryByRole('button', { name: 'Remove' })).toBeNull()
  await fill(await findText(), 'Hello {{first_name}} of {{company}}')
  await screen.findByText('Unknown placeholder: company')
  await press('Save')
  await screen.findByText('Not saved. There is no placeholder {{company}} in a receipt.')
})

test('in a preview the deadline is the one of today, marked as filled in later', async () => {
  await desk.store([zoe])
  await desk.sql`update private.places set days = 10`
  const { press, fill } = await desk.open('/letters/templates/accepted')
  await fill(await screen.findByLabelText('Subject'), 'Until {{reply_by}}')
  await fill(await findText(), 'Please answer by {{ reply_by }}.')
  const day = dayOf(new Date(Date.now() + 10 * 86_400_000).toISOString().slice(0, 10))
  const marked = async () =>
    (await (await preview()).findAllByTitle('Filled in when the letter is sent')).map(
      ({ textContent }) => textContent,
    )
  await waitFor(async () => expect(await marked()).toEqual([day, day]))
  await press('Send me a test')
  await waitFor(async () =>
    expect(await desk.sql`select subject, body from private.deliveries where kind = 'test'`).toEqual([
      { subject: `[Test] Until ${day}`, body: `Please answer by ${day}.` },
    ]),
  )
})

test('a test of the unsaved text is emailed to the organiser, and saves nothing', async () => {
  await desk.store([zoe, alan])
  const { user, press, fill, announced } = await desk.open('/letters/templates/declined')
  await user.type(await screen.findByLabelText('Preview with'), 'alan')
  await user.click(await screen.findByRole('button', { name: /^Alan Turing / }))
  await (await preview()).findByText(/^Hello Alan,/)
  await fill(screen.getByLabelText('Subject'), 'For {{first_name}} alone')
  await fill(await findText(), 'Not saved, {{last_name}}.')
  await press('Send me a test')
  await announced('A test is on the way to ada@example.org.')
  expect(await desk.sql`select subject, body from private.deliveries where kind = 'test'`).toEqual([
    { subject: '[Test] For Alan alone', body: 'Not saved, Turing.' },
  ])
  expect(await desk.sql`select from private.templates where body like 'Not saved%'`).toEqual([])
})

test('without a server that sends emails no test email is offered, and a refused test email says why', async () => {
  await desk.store([zoe])
  const { press, fill, reload } = await desk.open('/letters/templates/accepted')
  await fill(await findText(), 'Hello {{frist_name}}')
  await press('Send me a test')
  await screen.findByText(/There is no placeholder \{\{frist_name\}\}\./)
  expect(await desk.sql`select from private.deliveries where kind = 'test'`).toEqual([])
  await setMailSender(desk.sql, false, true)
  reload()
  await (await preview()).findByText(/^With the newest application:/)
  expect(screen.queryByRole('button', { name: 'Send me a test' })).toBeNull()
})

test('a template is previewed with a chosen applicant, and a blind reader sees no name', async () => {
  await desk.store([zoe, { ...alan, reason: 'To count my bees.' }, { ...alan, last_name: 'Ada' }])
  const { user, press, fill, announced, reload } = await desk.open('/letters/templates/declined')
  const hello = async (name: string) => (await preview()).findByText(new RegExp(`^Hello ${name},`))
  await hello('Zoë')
  const search = await screen.findByLabelText<HTMLInputElement>('Preview with')
  await fill(search, 'nobody')
  await screen.findByText('Nothing was found.')
  await fill(search, 'alan')
  await waitFor(() => expect(found()).toEqual(['Alan Turing', 'Alan Ada']))
  await user.click(screen.getByRole('button', { name: /^Alan Turing / }))
  await hello('Alan')
  await announced('With Alan Turing')
  expect(search.value).toBe('')
  expect(found()).toEqual([])
  expect(document.activeElement).toBe(search)
  await press('Newest')
  await hello('Zoë')
  expect((await screen.findByText(/^With the newest application:/)).textContent).toBe(
    'With the newest application: Zoë Zola',
  )

  await desk.ada.client.rpc('desk_set_blind', { blind: true }).throwOnError()
  reload()
  await hello(String.raw`\(hidden\)`)
  await fill(await screen.findByLabelText('Preview with'), 'bees')
  await user.click(await screen.findByRole('button', { name: /^Application / }))
  await screen.findByRole('button', { name: 'Newest' })
  expect(document.body.textContent).not.toMatch(/Alan|Turing|Zoë/)
})
