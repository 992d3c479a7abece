/** A set of listeners, and a function that calls them all. */
export function createListeners() {
  const listeners = new Set<() => void>()
  return {
    subscribe: (listener: () => void) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    notify: () => {
      for (const listener of listeners) listener()
    },
  }
}

/** Returns a function that adds a listener to these events of the window. That function returns one that removes it. */
export function listenTo(...events: string[]) {
  return (listener: (event: Event) => void) => {
    for (const event of events) addEventListener(event, listener)
    return () => {
      for (const event of events) removeEventListener(event, listener)
    }
  }
}

/** The events that end a press. On macOS, nothing follows the context menu of a right click. Nothing follows in a left window. */
export const pressEnds = ['pointerup', 'pointercancel', 'contextmenu', 'blur']

/** Calls that wait for the end of a press; undefined while nothing is pressed. */
let held: (() => void)[] | undefined
if (globalThis.window) {
  listenTo('pointerdown')(() => (held ??= []))
  listenTo(...pressEnds)(() => {
    const calls = held ?? []
    held = undefined
    // The click comes after this event.
    setTimeout(() => {
      for (const call of calls) call()
    })
  })
}

/** Calls a function, or delays that until the pointer is up: what it shows could move something away from under the pointer. */
export function afterPress(call: () => void): void {
  if (held) held.push(call)
  else call()
}
