import { maxPerCall, pageSize } from '../../../application/limits.ts'
import type { CallDesk } from '../../../client/desk.ts'
import type { Filter, ListPage, Cursor } from '../../../client/desk/applications.ts'
import type { Arguments } from '../../../client/desk/calls.ts'

/** The part of a list that was read, from its beginning. */
export interface List extends ListPage {
  filter: Filter
  /** When its beginning was read, in milliseconds since 1970. It distinguishes a list from a later read of the same list. */
  readAt: number
  /** Whether the last read found fewer rows than wanted: it reached the end of the list, or the maximum number of calls. */
  isPartial: boolean
}

/** Maximum calls for one page: each call examines a bounded number of applications, of which few may match. */
const maxCalls = 10

/** The arguments of the first call for a list. */
export const firstPageArguments = (filter: Filter) => ({ filter, after: null, most: pageSize })

/**
 * Reads a list from its beginning, with as many rows as `former` has, so that people who return find their position.
 *
 * @throws The errors of the call.
 */
export async function readList(
  call: CallDesk,
  filter: Filter,
  former: List | undefined,
  signal: AbortSignal,
): Promise<List> {
  const wanted = Math.max(pageSize, former?.applications.length ?? 0)
  const read = await readRows(call, filter, null, wanted, signal)
  return { ...read, filter, readAt: Date.now(), isPartial: read.applications.length < wanted }
}

/** Reads the next page of a list and returns the longer list. */
export async function readMore(call: CallDesk, list: List, signal?: AbortSignal): Promise<List> {
  if (list.next === null) return list
  const read = await readRows(call, list.filter, list.next, pageSize, signal)
  return {
    ...list,
    ...read,
    applications: [...list.applications, ...read.applications],
    letters: [...list.letters, ...read.letters],
    marks: { ...list.marks, ...read.marks },
    new_notes: [...list.new_notes, ...read.new_notes],
    isPartial: read.applications.length < pageSize,
  }
}

/**
 * The arguments that request the changes of a list: its first rows, up to the limit of one call, and the position where
 * these rows end.
 */
export function refreshArgumentsOf({
  applications,
  next,
}: List): Pick<Arguments<'desk_refresh'>, 'shown' | 'oldest'> {
  const rows = applications.slice(0, maxPerCall)
  const last = applications.length > rows.length ? rows.at(-1) : next
  return {
    shown: rows.map(({ id, version }) => ({ id, version })),
    oldest: last ? { created_at: last.created_at, id: last.id } : null,
  }
}

/** Reads rows until it has `wanted` of them, reaches the end of the list, or has made the maximum number of calls. */
export async function readRows(
  call: CallDesk,
  filter: Filter,
  after: Cursor | null,
  wanted: number,
  signal?: AbortSignal,
): Promise<ListPage> {
  const read: ListPage = { applications: [], letters: [], marks: {}, new_notes: [], next: after }
  for (let calls = 0; calls < maxCalls * Math.ceil(wanted / pageSize); calls += 1) {
    const most = Math.min(wanted - read.applications.length, maxPerCall)
    const page = await call('desk_list', { filter, after: read.next, most }, signal)
    read.applications.push(...page.applications)
    read.letters.push(...page.letters)
    Object.assign(read.marks, page.marks)
    read.new_notes.push(...page.new_notes)
    read.next = page.next
    if (read.next === null || read.applications.length >= wanted) break
  }
  return read
}
