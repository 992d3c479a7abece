import { mostAtOnce, pageSize } from '../../../application/limits.ts'
import type { CallDesk } from '../../../client/desk.ts'
import type { Filter, ListPage, Position } from '../../../client/desk/applications.ts'
import type { Arguments } from '../../../client/desk/calls.ts'

/** A list from its beginning, as far as it was read. */
export interface List extends ListPage {
  filter: Filter
  /** When its beginning was read, in milliseconds since 1970. It tells a list from the same one that was read again. */
  readAt: number
  /** Whether reading stopped before there were as many rows as were wanted. */
  isShort: boolean
}

/** Calls that one page may take: each looks at a bounded number of applications, of which few may pass the filter. */
const mostCalls = 10

/** What the first call for a list asks. */
export const firstCall = (filter: Filter) => ({ filter, after: null, most: pageSize })

/**
 * Reads a list from its beginning: as far as it was read before, so that whoever comes back finds their position.
 *
 * @throws What a call of the desk throws.
 */
export async function readFirst(
  call: CallDesk,
  filter: Filter,
  former: List | undefined,
  signal: AbortSignal,
): Promise<List> {
  const wanted = Math.max(pageSize, former?.applications.length ?? 0)
  const read = await readRows(call, filter, null, wanted, signal)
  return { ...read, filter, readAt: Date.now(), isShort: read.applications.length < wanted }
}

/** Reads another page of a list. */
export async function readOn(call: CallDesk, list: List, signal?: AbortSignal): Promise<List> {
  if (list.next === null) return list
  const read = await readRows(call, list.filter, list.next, pageSize, signal)
  return {
    ...list,
    ...read,
    applications: [...list.applications, ...read.applications],
    letters: [...list.letters, ...read.letters],
    isShort: read.applications.length < pageSize,
  }
}

/** The part of a list whose changes one call tells: its rows, as they were read, and where they end. */
export function partOf({ applications, next }: List): Pick<Arguments<'desk_refresh'>, 'shown' | 'oldest'> {
  const rows = applications.slice(0, mostAtOnce)
  const end = applications.length > rows.length ? rows.at(-1) : next
  return {
    shown: rows.map(({ id, version }) => ({ id, version })),
    oldest: end ? { created_at: end.created_at, id: end.id } : null,
  }
}

/** Reads rows until there are as many as are wanted, or until it took as many calls as so many pages may take. */
export async function readRows(
  call: CallDesk,
  filter: Filter,
  after: Position | null,
  wanted: number,
  signal?: AbortSignal,
): Promise<ListPage> {
  const read: ListPage = { applications: [], letters: [], next: after }
  for (let calls = 0; calls < mostCalls * Math.ceil(wanted / pageSize); calls += 1) {
    const most = Math.min(wanted - read.applications.length, mostAtOnce)
    const page = await call('desk_list', { filter, after: read.next, most }, signal)
    read.applications.push(...page.applications)
    read.letters.push(...page.letters)
    read.next = page.next
    if (read.next === null || read.applications.length >= wanted) break
  }
  return read
}
