/** Those who are told when something changes that they show. */
export function createListeners() {
  const listeners = new Set<() => void>()
  return {
    subscribe: (listener: () => void) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    tell: () => {
      for (const listener of listeners) listener()
    },
  }
}

/** Gives what calls a listener at each of these events of the window, and itself gives what ends that. */
export function listenTo(...events: string[]) {
  return (listener: (event: Event) => void) => {
    for (const event of events) addEventListener(event, listener)
    return () => {
      for (const event of events) removeEventListener(event, listener)
    }
  }
}
