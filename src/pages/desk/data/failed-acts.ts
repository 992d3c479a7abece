import { createListeners } from '../kit/listen.ts'
import { screenTitle } from '../kit/site-title.tsx'

/** An act that failed after its screen was left. */
interface FailedAct {
  /** What it was about. A later act about the same replaces it. */
  subject: string
  screen: ReturnType<typeof currentScreen>
  failure: string
  /** Performs it again; undefined if it would fail again. */
  repeat: (() => void) | undefined
}

/** The screen that is shown. */
export const currentScreen = () => ({ title: screenTitle(), address: location.hash })

/** The failures that no screen shows, in order. They end with the session. */
export type FailedActs = ReturnType<typeof createFailedActs>

/** Creates the list of them, which is empty at first. */
export function createFailedActs() {
  const { subscribe, notify } = createListeners()
  let all: readonly FailedAct[] = []
  const change = (changed: readonly FailedAct[]) => {
    all = changed
    notify()
  }
  const forgetOne = (subject: string) => {
    if (all.some((each) => each.subject === subject)) change(all.filter((each) => each.subject !== subject))
  }
  return {
    subscribe,
    all: () => all,
    add(failed: FailedAct) {
      forgetOne(failed.subject)
      change([...all, failed])
    },
    forgetOne,
    forget: () => change([]),
  }
}
