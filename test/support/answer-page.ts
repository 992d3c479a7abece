import type { Page } from 'playwright-core'

import type { AnsweredQuestion } from '../../src/application/questions.ts'
import type { GuestQuestions, Invitation } from '../../src/client/invitation.ts'
import { aRetreat } from './calendars.ts'

/** A token as in a letter's link. */
export const newToken = (): string => crypto.randomUUID()

const ada = { first_name: 'Ada', until: '2026-12-03', address: 'team@example.org' }

/** The states of an invitation. */
export const invitations = {
  open: { state: 'open', ...ada, answer: null },
  'open, with days': { state: 'open', ...ada, answer: null, retreat: aRetreat() },
  coming: { state: 'open', ...ada, answer: 'coming' },
  'coming, with days': { state: 'open', ...ada, answer: 'coming', retreat: aRetreat() },
  'not coming': { state: 'open', ...ada, answer: 'not coming' },
  over: { state: 'over', ...ada, answer: null },
  'over, without a reply address': { state: 'over', ...ada, answer: null, address: '' },
  'over, answered': { state: 'over', ...ada, answer: 'coming' },
  'over, with days': { state: 'over', ...ada, answer: 'coming', retreat: aRetreat({ venue: '' }) },
  invalid: { state: 'invalid' },
} satisfies Record<string, Invitation>

/** A question that nobody has to answer. */
const aQuestion = (changes: Partial<AnsweredQuestion> = {}): AnsweredQuestion => ({
  id: crypto.randomUUID(),
  kind: 'short',
  text: 'When do you arrive?',
  choices: [],
  is_required: false,
  is_private: false,
  is_answered: changes.answer !== undefined,
  answer: null,
  ...changes,
})

/** Questions of each kind. A required private one is answered. */
const exampleQuestions = [
  aQuestion({ is_required: true }),
  aQuestion({
    kind: 'choice',
    text: 'What do you eat?',
    choices: ['Everything', 'Vegetarian', 'Vegan'],
    is_required: true,
  }),
  aQuestion({ kind: 'yes-no', text: 'Do you bring a tent?' }),
  aQuestion({ kind: 'long', text: 'Do you have any allergies?', is_private: true }),
  aQuestion({
    text: 'Whom do we call in an emergency?',
    is_required: true,
    is_private: true,
    is_answered: true,
  }),
]

const answersOfAda = ['Friday, 17:40 at Prien', 'Vegan', null, null, null]

/** The same questions after a guest answered the first two. */
const answeredQuestions = exampleQuestions.map((question, index) => {
  const answer = answersOfAda[index] ?? null
  return { ...question, answer, is_answered: question.is_answered || answer !== null }
})

/** Questions as the answer page gets them. */
const questionsOf = (list: AnsweredQuestion[], changes: Partial<GuestQuestions> = {}): GuestQuestions => ({
  until: '2027-03-01',
  is_open: true,
  private_days: 30,
  list,
  ...changes,
})

/** Invitations of somebody who is asked questions: before the deadline, after it, and before it with the questions closed. */
const askedInvitations = {
  open: {
    state: 'open',
    ...ada,
    answer: 'coming',
    retreat: aRetreat(),
    questions: questionsOf(exampleQuestions),
  },
  over: {
    state: 'over',
    ...ada,
    answer: 'coming',
    questions: questionsOf(answeredQuestions, { until: null }),
  },
  closed: {
    state: 'open',
    ...ada,
    answer: 'coming',
    questions: questionsOf(answeredQuestions, { is_open: false }),
  },
} satisfies Record<string, Invitation>

/** Responds to each request for an invitation with the result of `invitationOf` for the requested token. */
export async function mockInvitations(
  page: Page,
  invitationOf: (token: string) => Invitation,
): Promise<void> {
  await page.route('**/rpc/place_by_token', (route) => {
    const { token } = route.request().postDataJSON() as { token: string }
    return route.fulfill({ json: invitationOf(token) })
  })
}

/** Resolves when the page shows the invitation. */
export async function waitForInvitation(page: Page): Promise<void> {
  await page.locator('#place[aria-busy=false]').waitFor()
}

/** The page's states: the invitation of each state, and how a guest reaches the state. */
export const answerStates = {
  open: { invitation: invitations.open, reachState: waitForInvitation },
  invited: { invitation: invitations['open, with days'], reachState: waitForInvitation },
  coming: { invitation: invitations.coming, reachState: waitForInvitation },
  dated: { invitation: invitations['coming, with days'], reachState: waitForInvitation },
  named: {
    invitation: {
      ...invitations['coming, with days'],
      retreat: aRetreat({ name: 'ملاذ الربيع', venue: 'بيت الضيافة، عمّان' }),
    },
    reachState: waitForInvitation,
  },
  long: {
    invitation: {
      ...invitations['open, with days'],
      retreat: aRetreat({ name: 'W'.repeat(60), venue: 'Hof Sonnenau '.repeat(8) + 'M'.repeat(96) }),
    },
    reachState: waitForInvitation,
  },
  declined: { invitation: invitations['not coming'], reachState: waitForInvitation },
  asked: { invitation: askedInvitations.open, reachState: waitForInvitation },
  private: {
    invitation: askedInvitations.open,
    reachState: async (page: Page) => {
      await page.getByRole('button', { name: 'Change: Whom do we call' }).click()
    },
  },
  saved: {
    invitation: askedInvitations.over,
    reachState: async (page: Page) => {
      const json = askedInvitations.over
      await page.route('**/rpc/answer_questions', (route) => route.fulfill({ json }))
      await page.getByRole('button', { name: 'Save answers' }).click()
      await page.getByText('Saved. Thank you.').waitFor()
    },
  },
  unsaved: {
    invitation: askedInvitations.over,
    reachState: async (page: Page) => {
      await page.route('**/rpc/answer_questions', (route) =>
        route.fulfill({
          status: 429,
          json: { message: 'There were too many changes. Please try again in an hour.' },
        }),
      )
      await page.getByRole('button', { name: 'Save answers' }).click()
      await page.getByRole('button', { name: 'Try again' }).waitFor()
    },
  },
  closed: { invitation: askedInvitations.closed, reachState: waitForInvitation },
  hostile: {
    invitation: {
      state: 'open',
      ...ada,
      answer: 'coming',
      questions: questionsOf([
        aQuestion({ text: 'W'.repeat(200), answer: 'M'.repeat(2_000) }),
        aQuestion({ text: 'ما الذي تأكله؟ <b>', kind: 'long', answer: 'لا آكل اللحم.' }),
        aQuestion({ text: '<b>'.repeat(60), kind: 'choice', choices: ['i'.repeat(100), 'W'.repeat(100)] }),
        aQuestion({ text: 'M'.repeat(200), is_private: true, is_answered: true }),
      ]),
    },
    reachState: waitForInvitation,
  },
  over: { invitation: invitations.over, reachState: waitForInvitation },
  answered: { invitation: invitations['over, answered'], reachState: waitForInvitation },
  invalid: { invitation: invitations.invalid, reachState: waitForInvitation },
  reading: {
    invitation: invitations.open,
    reachState: async (page: Page) => {
      await page.route('**/rpc/place_by_token', () => {})
      await page.reload()
      await page.locator('#place[aria-busy=true]').waitFor()
    },
  },
  changing: {
    invitation: invitations.coming,
    reachState: async (page: Page) => {
      await page.getByRole('button', { name: 'Change my answer' }).click()
    },
  },
  sending: {
    invitation: invitations.open,
    reachState: async (page: Page) => {
      await page.route('**/rpc/answer_place', () => {})
      await page.getByRole('button', { name: 'I cannot come' }).click()
      await page.getByRole('button', { name: 'Sending...' }).waitFor()
    },
  },
  failed: {
    invitation: invitations.open,
    reachState: async (page: Page) => {
      const json = { message: 'Too many wrong links came from your connection. Please wait 10 seconds.' }
      await page.route('**/rpc/answer_place', (route) => route.fulfill({ status: 429, json }))
      await page.getByRole('button', { name: 'I am coming' }).click()
      await page.getByRole('button', { name: 'Try again' }).waitFor()
    },
  },
} satisfies Record<string, { invitation: Invitation; reachState: (page: Page) => Promise<void> }>
