import type { Page } from 'playwright-core'

import { answerStates, newToken, mockInvitations } from './answer-page.ts'
import { deskStates, storeExamples } from './desk-states.ts'
import { signedInClient, signPageIn, type DeskServer } from './desk.ts'
import { extremeStates, storeExtremes } from './extreme-states.ts'
import { signInStates } from './sign-in-states.ts'
import { formStates } from './form-states.ts'
import { mockWithdrawal, withdrawStates } from './withdraw-page.ts'

/** A screen in one of its states. */
interface Screen {
  /** The screen's path, below the site's address. */
  address: string
  /** Prepares the data before the page is opened. */
  prepare: (page: Page, desk: DeskServer) => Promise<void>
  /** Brings the open page to this state. */
  reachState: (page: Page, desk: DeskServer) => Promise<void>
}

type ReachState = Screen['reachState']

const nothing = async () => {}

const formScreen = (reachState: ReachState): Screen => ({ address: '/', prepare: nothing, reachState })

/** Starts at the list of all applications. */
const deskScreen =
  (store: (desk: DeskServer) => Promise<void>) =>
  (reachState: ReachState): Screen => ({
    address: '/desk#/?status=all',
    async prepare(page, desk) {
      await store(desk)
      await signPageIn(await signedInClient(desk, 'grace@example.org'))(page)
    },
    async reachState(page, desk) {
      await page.locator('tbody .rows-name a').first().waitFor()
      await reachState(page, desk)
    },
  })

const signInScreen = ({ hash, as, reachState }: (typeof signInStates)[string]): Screen => ({
  address: `/desk${hash}`,
  async prepare(page, desk) {
    if (as) await signPageIn(await as(desk))(page)
  },
  reachState,
})

const answerScreen = ({
  invitation,
  reachState,
}: (typeof answerStates)[keyof typeof answerStates]): Screen => ({
  address: `/answer/#${newToken()}`,
  prepare: (page) => mockInvitations(page, () => invitation),
  reachState,
})

const withdrawScreen = ({
  withdrawal,
  reachState,
}: (typeof withdrawStates)[keyof typeof withdrawStates]): Screen => ({
  address: `/withdraw/#${newToken()}`,
  prepare: (page) => mockWithdrawal(page, withdrawal),
  async reachState(page) {
    await page.getByText(/Hello|This link/).waitFor()
    await reachState(page)
  },
})

/** Makes a screen of each state. Its name is the page's name and the state's name. */
function screensOf<State>(page: string, states: Record<string, State>, screenOf: (state: State) => Screen) {
  return Object.fromEntries(
    Object.entries(states).map(([name, state]) => [`${page}-${name}`, screenOf(state)] as const),
  )
}

/** All screens. axe checks each in every colour scheme, and `npm run screenshots` takes a picture of each. */
export const screens: Record<string, Screen> = {
  ...screensOf('form', formStates, formScreen),
  ...screensOf('desk', deskStates, deskScreen(storeExamples)),
  ...screensOf('desk', extremeStates, deskScreen(storeExtremes)),
  ...screensOf('desk', signInStates, signInScreen),
  ...screensOf('answer', answerStates, answerScreen),
  ...screensOf('withdraw', withdrawStates, withdrawScreen),
}
