import { useSyncExternalStore } from 'react'

import type { OutboxState } from '../../../client/desk/letters.ts'
import { filtersFrom, searchOf, type Filters } from './filters.ts'
import { listenTo } from './listen.ts'

/** Where somebody is at the desk. */
export type Route =
  | { screen: 'list'; filters: Filters }
  | { screen: 'application'; id: string; filters: Filters }
  | { screen: 'drafts' | 'template'; occasion: string }
  | { screen: 'outbox'; state: OutboxState }
  | { screen: (typeof plain)[number] }
  | { screen: 'unknown' }

/** Where the letters are that were written to one person, whose occasion is blank. */
const personal = 'letters/personal'
const plain = ['places', 'letters', 'door', 'account', 'history'] as const
const outboxStates: readonly OutboxState[] = ['waiting', 'refused', 'given up']

/**
 * Reads an address. It is a fragment: static hosts have no other paths, and what stands in a query is written into logs.
 *
 * @param hash As `location.hash` has it: `#/applications/1?status=new`.
 */
export function routeOf(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#?\/?/, '').split(/\?(.*)/s)
  const [first = '', second = '', third, ...more] = path.split('/').map(decoded)
  const filters = filtersFrom(search)
  if (path === '') return { screen: 'list', filters }
  if (first === 'applications' && second !== '' && third === undefined)
    return { screen: 'application', id: second, filters }
  const screen = plain.find((each) => each === path)
  if (screen !== undefined) return { screen }
  if (path === personal) return { screen: 'drafts', occasion: '' }
  if (first !== 'letters' || third === undefined || third === '' || more.length > 0)
    return { screen: 'unknown' }
  if (second === 'drafts') return { screen: 'drafts', occasion: third }
  if (second === 'templates') return { screen: 'template', occasion: third }
  const state = outboxStates.find((each) => each === third)
  return second === 'outbox' && state !== undefined ? { screen: 'outbox', state } : { screen: 'unknown' }
}

/** The address of a route, for a link. */
export function hrefOf(route: Route): string {
  switch (route.screen) {
    case 'list':
      return `#/${queryOf(route.filters)}`
    case 'application':
      return hrefsIn(route.filters)(route.id)
    case 'drafts':
      return route.occasion === ''
        ? `#/${personal}`
        : `#/letters/drafts/${encodeURIComponent(route.occasion)}`
    case 'template':
      return `#/letters/templates/${encodeURIComponent(route.occasion)}`
    case 'outbox':
      return `#/letters/outbox/${encodeURIComponent(route.state)}`
    case 'unknown':
      return '#/'
    case 'places':
    case 'letters':
    case 'door':
    case 'account':
    case 'history':
      return `#/${route.screen}`
  }
}

/** The addresses of applications that are opened from one list, by their ids. */
export function hrefsIn(filters: Filters): (id: string) => string {
  const query = queryOf(filters)
  return (id) => `#/applications/${encodeURIComponent(id)}${query}`
}

/** The list as it is without any filter. */
export const wholeList: Route = { screen: 'list', filters: filtersFrom('') }

function queryOf(filters: Filters) {
  const search = searchOf(filters)
  return search === '' ? '' : `?${search}`
}

/** What organisers named may have any sign in it, and a link that somebody made may have half of one. */
function decoded(part: string) {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

// Stryker disable all: what follows is the window's, for the journeys
// The server renders the first list, where there is no window.
let present = globalThis.window?.location.hash ?? ''
let former = present

const subscribe = listenTo('hashchange', 'popstate')
if (globalThis.window) {
  subscribe(() => {
    if (location.hash !== present) former = present
    present = location.hash
  })
}

/** The route that was left for the one that is shown. */
export function formerRoute(): Route {
  return routeOf(former)
}

/** Goes to another route of the desk. */
export function go(route: Route, { replace = false }: { replace?: boolean } = {}): void {
  const href = hrefOf(route)
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
export function useRoute(): Route {
  return routeOf(useFragment())
}
