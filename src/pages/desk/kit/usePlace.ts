import { useSyncExternalStore } from 'react'

import { hrefOf, placeOf, type Place } from './places.ts'

// The server renders the first list, where there is no window.
let present = globalThis.window?.location.hash ?? ''
let former = present

function note() {
  if (location.hash !== present) former = present
  present = location.hash
}

globalThis.window?.addEventListener('hashchange', note)
globalThis.window?.addEventListener('popstate', note)

/** The place that was left for the one that is shown. */
export function formerPlace(): Place {
  return placeOf(former)
}

function subscribe(onChange: () => void) {
  addEventListener('hashchange', onChange)
  addEventListener('popstate', onChange)
  return () => {
    removeEventListener('hashchange', onChange)
    removeEventListener('popstate', onChange)
  }
}

/** Goes to another place of the desk. */
export function go(place: Place, { replace = false }: { replace?: boolean } = {}): void {
  const href = hrefOf(place)
  if (href === (location.hash || '#/')) return
  if (replace) history.replaceState(history.state, '', href)
  else history.pushState(null, '', href)
  dispatchEvent(new PopStateEvent('popstate'))
}

const fragment = () => location.hash

/** The fragment as it is. */
export function useFragment(): string {
  return useSyncExternalStore(subscribe, fragment, () => '')
}

/** Where somebody is. */
export function usePlace(): Place {
  return placeOf(useFragment())
}
