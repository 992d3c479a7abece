import type { Page } from 'playwright-core'

import type { Invitation } from '../src/client/invitation.ts'
import { aRetreat } from './calendars.ts'

/** A token as in a letter's link. */
export const newToken = (): string => crypto.randomUUID()

const ada = { first_name: 'Ada', until: '2026-12-03', address: 'team@example.org' }

/** The states of an invitation. */
export const invitations = {
  open: { state: 'open', ...ada, answer: null },
  coming: { state: 'open', ...ada, answer: 'coming' },
  'coming, with days': { state: 'open', ...ada, answer: 'coming', retreat: aRetreat() },
  'not coming': { state: 'open', ...ada, answer: 'not coming' },
  over: { state: 'over', ...ada, answer: null },
  'over, by mail': { state: 'over', ...ada, answer: null, address: '' },
  'over, answered': { state: 'over', ...ada, answer: 'coming' },
  'over, with days': { state: 'over', ...ada, answer: 'coming', retreat: aRetreat({ venue: '' }) },
  invalid: { state: 'invalid' },
} satisfies Record<string, Invitation>

/** Answers each request for an invitation with the result of `invitationOf` for its token. */
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
  open: { place: invitations.open, reach: waitForInvitation },
  coming: { place: invitations.coming, reach: waitForInvitation },
  dated: { place: invitations['coming, with days'], reach: waitForInvitation },
  over: { place: invitations.over, reach: waitForInvitation },
  answered: { place: invitations['over, answered'], reach: waitForInvitation },
  invalid: { place: invitations.invalid, reach: waitForInvitation },
  reading: {
    place: invitations.open,
    reach: async (page: Page) => {
      await page.route('**/rpc/place_by_token', () => {})
      await page.reload()
      await page.locator('#place[aria-busy=true]').waitFor()
    },
  },
  changing: {
    place: invitations.coming,
    reach: async (page: Page) => {
      await page.getByRole('button', { name: 'Change my answer' }).click()
    },
  },
  sending: {
    place: invitations.open,
    reach: async (page: Page) => {
      await page.route('**/rpc/answer_place', () => {})
      await page.getByRole('button', { name: 'I cannot come' }).click()
      await page.getByRole('button', { name: 'Sending...' }).waitFor()
    },
  },
  failed: {
    place: invitations.open,
    reach: async (page: Page) => {
      const json = { message: 'Too many wrong links came from your connection. Please wait 10 seconds.' }
      await page.route('**/rpc/answer_place', (route) => route.fulfill({ status: 429, json }))
      await page.getByRole('button', { name: 'I am coming' }).click()
      await page.getByRole('button', { name: 'Try again' }).waitFor()
    },
  },
} satisfies Record<string, { place: Invitation; reach: (page: Page) => Promise<void> }>
