import { useSyncExternalStore } from 'react'
import type { BaseLocationHook, BaseSearchHook } from 'wouter'

/**
 * Where the desk is, as its fragment says: static hosts have no other paths, and what stands in a query is written
 * into logs.
 *
 * @param hash As `location.hash` has it: `#/applications/1?status=new`.
 */
export function placeOf(hash: string): { path: string; search: string } {
  const [path = '', search = ''] = hash.replace(/^#?\/?/, '').split(/\?(.*)/s)
  return { path: `/${path}`, search }
}

let present = placeOf(location.hash).path
let former = ''

function note() {
  const { path } = placeOf(location.hash)
  if (path !== present) former = present
  present = path
}

addEventListener('hashchange', note)
addEventListener('popstate', note)

/** The path that was left for the one that is shown. */
export function formerPath(): string {
  return former
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
export function navigate(to: string, { replace = false }: { replace?: boolean } = {}): void {
  if (placeOf(to).path + placeOf(to).search === placeOf(location.hash).path + placeOf(location.hash).search)
    return
  if (replace) history.replaceState(history.state, '', `#${to}`)
  else history.pushState(null, '', `#${to}`)
  dispatchEvent(new PopStateEvent('popstate'))
}

/** The fragment as it is. */
export function useFragment(): string {
  return useSyncExternalStore(subscribe, () => location.hash)
}

/** The path in the fragment, for the router. */
export const useFragmentPath: BaseLocationHook = () => {
  const path = useSyncExternalStore(subscribe, () => placeOf(location.hash).path)
  return [path, navigate]
}

/** What stands behind the question mark in the fragment, for the router. */
export const useFragmentSearch: BaseSearchHook = () =>
  useSyncExternalStore(subscribe, () => placeOf(location.hash).search)
