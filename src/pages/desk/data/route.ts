import { useSyncExternalStore } from 'react'

import type { OutboxState } from '../../../client/desk/letters.ts'
import { filtersFrom, searchOf, type Filters } from './filters.ts'
import { listenTo } from '../kit/listen.ts'

/** A screen of the desk, with its parameters. */
export type Route =
  | { screen: 'list'; filters: Filters }
  | { screen: 'application'; id: string; filters: Filters }
  /** Everything about the person of an application. */
  | { screen: 'person'; id: string; filters: Filters }
  /** The drafts of one template; without an occasion (null), those of all decisions. */
  | { screen: 'drafts'; occasion: string | null }
  | { screen: 'template'; occasion: string }
  | { screen: 'outbox'; state: OutboxState }
  /** `edition`: the number of a retreat on its screens; undefined means the newest. */
  | { screen: keyof typeof roomOfPlain; edition?: number | undefined }
  | { screen: 'unknown' }

/** The path of letters to one person, whose occasion is blank. */
const personal = 'letters/personal'

/** The path of the letters about decisions. */
const decisions = 'letters/decisions'

/** The screens whose path is their name, each with its room: the entry of the desk's navigation. */
const roomOfPlain = {
  coming: 'Guests',
  guests: 'Guests',
  letters: 'Letters',
  retreat: 'Retreat',
  page: 'Retreat',
  questions: 'Retreat',
  door: 'Retreat',
  retention: 'Retreat',
  retreats: 'Retreat',
  history: 'Retreat',
  'first-steps': 'Retreat',
  account: 'Account',
} as const

/** The screen that replaced one of version 1.2. */
const successors: Record<string, string> = { places: 'coming' }

const outboxStates: readonly OutboxState[] = ['waiting', 'refused', 'given up']

/**
 * Parses an address. Routes are in the fragment: static hosts have no other paths, and servers log queries.
 *
 * @param hash In the format of `location.hash`: `#/applications/1?status=new`.
 */
export function routeOf(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#?\/?/, '').split(/\?(.*)/s)
  const [first, second, third, ...more] = path.split('/').map(decodePart)
  const filters = filtersFrom(search)
  if (path === '') return { screen: 'list', filters }
  const [, id, part] = /^applications\/([^/]+)(\/all)?$/.exec(path) ?? []
  if (id) return { screen: part ? 'person' : 'application', id: decodePart(id), filters }
  const screen = successors[path] ?? path
  if (isPlain(screen)) return { screen, edition: filters.edition }
  if (path === personal) return { screen: 'drafts', occasion: '' }
  if (path === decisions) return { screen: 'drafts', occasion: null }
  if (first !== 'letters' || third === undefined || third === '' || more.length > 0)
    return { screen: 'unknown' }
  if (second === 'drafts') return { screen: 'drafts', occasion: third }
  if (second === 'templates') return { screen: 'template', occasion: third }
  const state = outboxStates.find((each) => each === third)
  return second === 'outbox' && state !== undefined ? { screen: 'outbox', state } : { screen: 'unknown' }
}

/** The room of a screen. */
export function roomOf({ screen }: Route): string {
  if (isPlain(screen)) return roomOfPlain[screen]
  if (screen === 'unknown') return ''
  return screen === 'list' || screen === 'application' || screen === 'person' ? 'Applications' : 'Letters'
}

/** Whether readers may open a screen. */
export function isForReaders({ screen }: Route): boolean {
  return ['list', 'application', 'account', 'unknown'].includes(screen)
}

function isPlain(screen: string): screen is keyof typeof roomOfPlain {
  return Object.hasOwn(roomOfPlain, screen)
}

/** The address of a route, for links. */
export function hrefOf(route: Route): string {
  if (route.screen === 'list') return `#/${queryOf(route.filters)}`
  if ('id' in route) return hrefsIn(route.filters, route.screen === 'person' ? '/all' : '')(route.id)
  if (route.screen === 'drafts') {
    if (route.occasion === null) return `#/${decisions}`
    return `#/${route.occasion === '' ? personal : `letters/drafts/${encodeURIComponent(route.occasion)}`}`
  }
  if (route.screen === 'template') return `#/letters/templates/${encodeURIComponent(route.occasion)}`
  if (route.screen === 'outbox') return `#/letters/outbox/${encodeURIComponent(route.state)}`
  if (route.screen === 'unknown') return '#/'
  return `#/${route.screen}${route.edition ? `?edition=${route.edition}` : ''}`
}

/**
 * Returns a function from an application's id to its address. All these addresses share the list's filters.
 *
 * @param part The rest of the path.
 */
export function hrefsIn(filters: Filters, part = ''): (id: string) => string {
  const end = part + queryOf(filters)
  return (id) => `#/applications/${encodeURIComponent(id)}${end}`
}

/** The list without any filter. */
export const unfilteredList: Route = { screen: 'list', filters: filtersFrom('') }

function queryOf(filters: Filters) {
  const search = searchOf(filters)
  return search === '' ? '' : `?${search}`
}

/** Template names may contain any character. A hand-made link may contain an invalid escape, which stays unchanged. */
function decodePart(part: string) {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

// Stryker disable all: the rest needs a window, so the browser tests test it
// The blank list is rendered on the server, where there is no window.
let currentHash = globalThis.window?.location.hash ?? ''
let previousHash = currentHash

const subscribe = listenTo('hashchange', 'popstate')
if (globalThis.window) {
  subscribe(() => {
    if (location.hash !== currentHash) previousHash = currentHash
    currentHash = location.hash
  })
}

/** The route before the current one. */
export function previousRoute(): Route {
  return routeOf(previousHash)
}

/**
 * Goes to another route of the desk. Does nothing if it is already shown.
 *
 * @param options `replace`: overwrites the current history entry instead of adding one.
 */
export function go(route: Route, { replace = false }: { replace?: boolean } = {}): void {
  const href = hrefOf(route)
  if (href === (location.hash || '#/')) return
  if (replace) history.replaceState(history.state, '', href)
  else history.pushState(null, '', href)
  dispatchEvent(new PopStateEvent('popstate'))
}

const fragment = () => currentHash

/** The current fragment; blank during server rendering. */
export function useFragment(): string {
  return useSyncExternalStore(subscribe, fragment, () => '')
}

/** The current route. */
export function useRoute(): Route {
  return routeOf(useFragment())
}
