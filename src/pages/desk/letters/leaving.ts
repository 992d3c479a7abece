import { useSyncExternalStore } from 'react'

/** Letters that were released together, and when they leave, by this browser's clock. */
export interface Leaving {
  act: string
  count: number
  until: number
}

let leaving: readonly Leaving[] = []
const listeners = new Set<() => void>()

function become(acts: readonly Leaving[]) {
  leaving = acts
  for (const listener of listeners) listener()
}

/** Shows that letters leave, so that they can be stopped; wherever the organiser goes meanwhile. */
export function noteLeaving(act: Leaving): void {
  become([...leaving.filter((each) => each.act !== act.act), act])
}

/** They have left, or were stopped. */
export function forgetLeaving(act: string): void {
  become(leaving.filter((each) => each.act !== act))
}

/** The acts whose letters have not left. */
export function useLeaving(): readonly Leaving[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => leaving,
  )
}
