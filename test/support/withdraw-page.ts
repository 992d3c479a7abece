import type { Page } from 'playwright-core'

import type { Withdrawal } from '../../src/client/withdrawal.ts'

const ada = { first_name: 'Ada', applied_on: '2026-11-03' }

const nothing = async () => {}

/** Responds to each request for an application by the link of its receipt. */
export async function mockWithdrawal(page: Page, withdrawal: Withdrawal): Promise<void> {
  await page.route('**/rpc/withdrawal_by_token', (route) => route.fulfill({ json: withdrawal }))
}

/** The page's states: the application of each state, and how an applicant reaches the state. */
export const withdrawStates = {
  open: { withdrawal: { state: 'open', ...ada }, reachState: nothing },
  asked: {
    withdrawal: { state: 'open', ...ada },
    reachState: (page: Page) => page.getByRole('button', { name: 'Withdraw my application' }).click(),
  },
  failed: {
    withdrawal: { state: 'open', ...ada },
    reachState: async (page: Page) => {
      const json = { message: 'There were too many changes. Please try again in an hour.' }
      await page.route('**/rpc/withdraw_application', (route) => route.fulfill({ status: 429, json }))
      await page.getByRole('button', { name: 'Withdraw my application' }).click()
      await page.getByRole('button', { name: 'Yes, withdraw it' }).click()
      await page.getByRole('button', { name: 'Try again' }).waitFor()
    },
  },
  withdrawn: { withdrawal: { state: 'withdrawn', ...ada }, reachState: nothing },
  decided: { withdrawal: { state: 'decided', ...ada, first_name: 'أمينة' }, reachState: nothing },
  invalid: { withdrawal: { state: 'invalid' }, reachState: nothing },
} satisfies Record<string, { withdrawal: Withdrawal; reachState: (page: Page) => Promise<void> }>
