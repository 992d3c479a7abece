import { screen, waitFor, within } from '@testing-library/dom'
import { beforeEach, expect, test } from 'vitest'

import { hiddenName } from '../support/applicants.ts'
import { button, focusedWords, heading, sentence, timeline } from '../support/desk-parts.ts'
import { deskScreensForTestFile } from '../support/opened-desk.ts'
import { storeAnswers, storeGuests, storeQuestions } from '../support/questions.ts'

const desk = deskScreensForTestFile()

beforeEach(async () => {
  await desk.sql`
    update private.editions set starts_on = '2027-03-12', ends_on = '2027-03-15', venue = 'Hof Sonnenau'`
  await desk.sql`update private.places set zone = 'UTC'`
})

/** Answers questions by the link of a guest's letter. */
async function answerByLink(application: string, answers: Record<string, string>) {
  const [row] = await desk.sql<[{ token: string }]>`
    select token from private.invitations where application_id = ${application}`
  await desk.ada.client
    .rpc('answer_questions', { token: row.token, answers, act: crypto.randomUUID() })
    .throwOnError()
}

const storedQuestions = () => desk.sql`
  select kind, text, choices, is_required, is_private from private.questions order by position`
const storedAnswers = async () => {
  const rows = await desk.sql<
    { answer: string }[]
  >`select answer from private.question_answers order by answer`
  return rows.map(({ answer }) => answer)
}

/** The fields of a question. */
const questionNumber = async (number: number) =>
  within(await screen.findByRole('group', { name: new RegExp(`^Question ${number}\\b`) }))
const questionText = async (number: number) => (await questionNumber(number)).getByLabelText('Question')
const questionTexts = () => screen.queryAllByLabelText<HTMLInputElement>('Question').map(({ value }) => value)
const lastDay = () => screen.findByLabelText('Last day for answers')
const answersRegion = async () => within(await screen.findByRole('region', { name: 'Questions to guests' }))

/** The texts of the table of guests, row by row. */
const tableTexts = () =>
  screen
    .queryAllByRole('row')
    .map((row) => [...row.children].map((cell) => (cell.querySelector('a, bdi') ?? cell).textContent.trim()))

test('questions are written at the desk, and the history has the change', async () => {
  await storeGuests(desk, ['Ada', 'Lovelace'])
  const { user, press, follow, fill, goTo, announced } = await desk.open('/retreat')
  await follow('Questions')
  await heading('Questions')
  await press('Add question')
  await fill(await questionText(1), 'What do you not eat?')
  await press('Add question')
  await fill(await questionText(2), ' When do you arrive? ')
  const second = await questionNumber(2)
  await user.selectOptions(second.getByLabelText('Kind'), 'One of several')
  await fill(second.getByLabelText('Options'), 'Thursday\n\n Friday ')
  await user.click(second.getByLabelText('Required'))
  await press('Up: question 2')
  await announced('Question 1 of 2')
  await fill(await lastDay(), '2027-03-01')
  await screen.findByText('Not saved yet.')
  await press('Save')
  await announced('Saved. 2 questions.')
  expect(screen.queryByText('Not saved yet.')).toBeNull()
  expect(await storedQuestions()).toEqual([
    {
      kind: 'choice',
      text: 'When do you arrive?',
      choices: ['Thursday', 'Friday'],
      is_required: true,
      is_private: false,
    },
    { kind: 'short', text: 'What do you not eat?', choices: [], is_required: false, is_private: false },
  ])
  // A saved question keeps its kind.
  await (await questionNumber(1)).findByText('One of several')
  expect(screen.queryByLabelText('Kind')).toBeNull()

  goTo('/history')
  await screen.findByText('Questions to guests changed: 2 questions')
})

test('the answers of a guest are in the table, at the application and in the history', async () => {
  const [id = ''] = await storeGuests(desk, ['Ada', 'Lovelace'], ['Alan', 'Turing'])
  const [arrival = '', diet = ''] = await storeQuestions(desk.sql, [
    { text: 'When do you arrive?', kind: 'choice', choices: ['Thursday', 'Friday'], is_required: true },
    { text: 'What do you not eat?' },
  ])
  await answerByLink(id, { [arrival]: 'Friday', [diet]: '=Nuts' })
  const { follow } = await desk.open('/coming')
  await follow('Guest list')
  await heading('Guest list')
  await waitFor(() =>
    expect(tableTexts()).toEqual([
      ['Name', 'When do you arrive?', 'What do you not eat?'],
      ['Ada Lovelace', 'Friday', '=Nuts'],
      ['Alan Turing', 'no answer', 'no answer'],
    ]),
  )
  await screen.findByText(/^2 guests\. 1 has not answered all required questions/)
  expect(screen.getByRole('row', { name: /Alan Turing/ }).textContent).toContain('1 answer missing')
  await follow('Ada Lovelace')
  await (await answersRegion()).findByText('Friday')
  await waitFor(() => expect(timeline().at(-1)).toMatch(/the applicant.*2 answers to questions changed/))
})

test('after the last day for answers, no answer is reported as missing', async () => {
  await storeGuests(desk, ['Alan', 'Turing'])
  await storeQuestions(desk.sql, [{ text: 'When do you arrive?', is_required: true }], {
    until: '2024-01-01',
  })
  await desk.open('/guests')
  const row = await screen.findByRole('row', { name: /Alan Turing/ })
  expect(row.textContent).not.toContain('missing')
  expect(screen.getByText(/^1 guest\./).textContent).not.toContain('answered')
})

test('a save does not overwrite another organiser’s change that this organiser has not seen', async () => {
  await storeQuestions(desk.sql, [{ text: 'What do you not eat?' }])
  const { press, fill, announced } = await desk.open('/questions')
  await fill(await questionText(1), 'What do you eat?')
  const [kept] = await desk.sql<
    { id: string }[]
  >`select id, kind, text, choices, is_required, is_private from private.questions`
  const added = { ...kept, id: crypto.randomUUID(), text: 'When do you arrive?' }
  await desk.bob.client
    .rpc('desk_set_questions', { version: 1, questions: [kept, added], until: null, private_days: null })
    .throwOnError()
  await press('Save')
  await screen.findByText(/Somebody else changed the questions meanwhile\. There are 2 questions now\./)
  expect(questionTexts()).toEqual(['What do you eat?'])
  expect(await storedQuestions()).toHaveLength(2)
  await press('Save anyway')
  await announced('Saved. 1 question.')
  expect(await storedQuestions()).toMatchObject([{ text: 'What do you eat?' }])
})

test('removing a question says how many answers it erases, and saving erases them', async () => {
  const ids = await storeGuests(desk, ['Ada', 'Lovelace'], ['Alan', 'Turing'])
  const [diet = '', car = ''] = await storeQuestions(desk.sql, [
    { text: 'What do you not eat?' },
    { text: 'By car?', kind: 'yes-no' },
  ])
  for (const id of ids) await storeAnswers(desk.sql, id, { [diet]: 'Nuts', [car]: 'no' })
  const { press, announced } = await desk.open('/questions')
  await press('Remove: question 1')
  await screen.findByText('Saving then erases 2 answers.')
  await press('Keep')
  expect(questionTexts()).toHaveLength(2)
  await press('Remove: question 1')
  await press('Remove question')
  await screen.findByText('Saving erases 2 answers to 1 removed question.')
  expect(document.activeElement).toBe(await questionText(1))
  expect(await storedAnswers()).toEqual(['Nuts', 'Nuts', 'no', 'no'])
  await press('Save')
  await announced('Saved. 1 question.')
  expect(await storedAnswers()).toEqual(['no', 'no'])
})

test('without days of the retreat no private answer is erased, and a private question stays private', async () => {
  const [id = ''] = await storeGuests(desk, ['Ada', 'Lovelace'])
  const [emergency = ''] = await storeQuestions(desk.sql, [{ text: 'Whom do we call?', is_private: true }])
  await storeAnswers(desk.sql, id, { [emergency]: 'Mary' })
  await desk.sql`update private.editions set starts_on = null, ends_on = null`
  await desk.open('/questions')
  await sentence(/^Set the days of the retreat: until then nothing is erased\.$/)
  const question = await questionNumber(1)
  expect(question.queryByLabelText('Private')).toBeNull()
  question.getByText(/It stays private, since guests may have been told so\.$/)
})

test('private answers are erased by hand once they are due, and the history says who erased them', async () => {
  const [id = ''] = await storeGuests(desk, ['Ada', 'Lovelace'])
  const [emergency = '', diet = ''] = await storeQuestions(desk.sql, [
    { text: 'Whom do we call?', is_private: true },
    { text: 'What do you not eat?' },
  ])
  await storeAnswers(desk.sql, id, { [emergency]: 'Mary', [diet]: 'Nuts' })
  await desk.sql`update private.editions set starts_on = '2026-01-01', ends_on = '2026-01-03'`
  await desk.sql`
    insert into private.history (author, kind, detail) values ('server', 'questions', '{"erased": 2}')`
  const { press, announced, goTo } = await desk.open('/questions')
  await screen.findByText(/^1 private answer is due to be erased\./)
  await press('Erase them now')
  await press('Erase for good')
  await announced('1 private answer erased.')
  await waitFor(() => expect(screen.queryByText(/due to be erased/)).toBeNull())
  await waitFor(() => expect(focusedWords()).toBe('Questions'))
  expect(await storedAnswers()).toEqual(['Nuts'])
  goTo('/history')
  await heading('History')
  const events = await screen.findAllByRole('listitem')
  expect(events[0]?.textContent).toMatch(/1 private answer erased.*ada@example\.org/)
  expect(events[1]?.textContent).toMatch(/2 private answers erased.*automatically,/)
})

test('a blind reader sees neither names nor private answers, in the table and at the application', async () => {
  const [id = ''] = await storeGuests(desk, ['Ada', 'Lovelace'])
  const [diet = '', emergency = ''] = await storeQuestions(desk.sql, [
    { text: 'What do you not eat?' },
    { text: 'Whom do we call?', is_private: true, is_required: true },
  ])
  await storeAnswers(desk.sql, id, { [diet]: 'Nuts', [emergency]: 'Mary' })
  await desk.ada.client.rpc('desk_set_blind', { blind: true }).throwOnError()
  const { user, press, fill } = await desk.open('/guests')
  await screen.findByText('Names, contact details and private answers are hidden: blind reading is on.')
  expect(tableTexts()).toEqual([
    ['Name', 'What do you not eat?'],
    [expect.stringMatching(hiddenName), 'Nuts'],
  ])
  expect(screen.getAllByRole('checkbox')).toHaveLength(1)
  await user.click(within(screen.getByRole('table')).getByRole('link'))
  const region = await answersRegion()
  await region.findByText('Hidden while blind reading is on')
  await press('Enter answers')
  const dialog = within(await screen.findByRole('dialog'))
  dialog.getByText('Private questions are hidden while blind reading is on.')
  expect(dialog.getAllByRole('textbox')).toHaveLength(1)
  await fill(dialog.getByLabelText('What do you not eat?'), 'Everything')
  await press('Save answers')
  await region.findByText('Everything')
  expect(document.body.textContent).not.toMatch(/Mary/)
  expect(await storedAnswers()).toEqual(['Everything', 'Mary'])
})

test('answers that came by email are entered at the application, and only changed answers are saved', async () => {
  const [id = ''] = await storeGuests(desk, ['Ada', 'Lovelace'])
  const [diet = '', , car = ''] = await storeQuestions(desk.sql, [
    { text: 'What do you not eat?', is_required: true },
    { text: 'When do you arrive?', kind: 'choice', choices: ['Thursday', 'Friday'], is_required: true },
    { text: 'By car?', kind: 'yes-no', is_private: true },
    { text: 'What else?', kind: 'long' },
  ])
  await storeAnswers(desk.sql, id, { [diet]: 'Nuts', [car]: 'no' })
  const { user, press, fill, announced } = await desk.open(`/applications/${id}`)
  await press('Enter answers')
  const dialog = within(await screen.findByRole('dialog'))
  // The guest changes an answer meanwhile.
  await desk.sql`update private.question_answers set answer = 'Fish' where question_id = ${diet}`
  await user.selectOptions(dialog.getByLabelText('When do you arrive?'), 'Friday')
  await user.selectOptions(dialog.getByLabelText('By car? (private)'), 'No answer')
  await fill(dialog.getByLabelText('What else?'), 'A cello.\nIt is old.')
  // Closing the dialog keeps what was entered.
  await user.click(dialog.getByRole('button', { name: 'Cancel' }))
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  await press('Enter answers')
  await press('Save answers')
  await announced('Ada Lovelace: answers saved')
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  expect(await storedAnswers()).toEqual(['A cello.\nIt is old.', 'Fish', 'Friday'])
  const region = await answersRegion()
  await waitFor(() =>
    expect(region.getAllByRole('definition').map(({ textContent }) => textContent)).toEqual([
      'Fish',
      'Friday',
      'No answer',
      'A cello.\nIt is old.',
    ]),
  )
  await waitFor(() => expect(timeline().at(-1)).toContain('3 answers to questions changed'))

  // The answers of somebody who is no longer coming stay, and organisers cannot enter others.
  await press('Not coming')
  await waitFor(() => expect(screen.queryByRole('button', { name: 'Enter answers' })).toBeNull())
  region.getByText('Friday')
})

test('reminders of unanswered questions are drafted with reminders of RSVPs, and have their own drafts and template', async () => {
  const [, alan = ''] = await storeGuests(desk, ['Ada', 'Lovelace'], ['Alan', 'Turing'])
  await storeQuestions(desk.sql, [{ text: 'What do you not eat?', is_required: true }])
  await desk.sql`update private.invitations set rsvp = null, rsvp_at = null where application_id = ${alan}`
  const { press, follow, goTo, announced } = await desk.open('/coming')
  await press('Draft 2 reminders')
  await announced('2 reminders drafted. Nothing has been sent. 1 is about questions.')
  expect(screen.getByRole('link', { name: 'Review drafts' }).getAttribute('href')).toBe(
    '#/letters/drafts/reminder',
  )
  await follow('Review drafts about questions')
  await heading('Drafts: Question reminder')
  await screen.findByRole('link', { name: 'Ada Lovelace' })
  expect(screen.queryByRole('link', { name: 'Alan Turing' })).toBeNull()
  goTo('/letters/templates/questions')
  await heading('Template: Question reminder')
  await button('{{answer_link}}')
  expect(screen.queryByRole('button', { name: 'Remove' })).toBeNull()
})

test('without guests or questions the screens say so, and there are at most ten questions', async () => {
  const { user, press, follow } = await desk.open('/guests')
  await screen.findByText(/^Nobody is coming yet\./)
  await follow('Retreat')
  await follow('Questions')
  await screen.findByText(/^There are no questions yet\./)
  for (let added = 0; added < 10; added += 1) await press('Add question')
  await screen.findByText('There are at most 10 questions.')
  const add = await button('Add question')
  add.focus()
  await user.keyboard('{Enter}')
  expect(questionTexts()).toHaveLength(10)
})
