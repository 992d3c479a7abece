import { paidSolutions, teamSizes, type Application } from '../../../application/application.ts'
import { answerStates, statuses, type AnswerState, type Status } from '../../../application/statuses.ts'
import type { Filter } from '../../../client/desk/applications.ts'

/** What a list is narrowed to, as the address says it. */
export interface Filters {
  status: Status | 'all'
  search: string
  /** Null asks for any answer, a blank one for those that did not answer. */
  team_size: Application['team_size'] | null
  paid_solution: Application['paid_solution'] | null
  /** Whether who was accepted comes; null asks for everybody. */
  answer: AnswerState | null
  /** Days as `2026-12-31`, both inclusive; blank where they are not asked for. */
  from: string
  to: string
  /** Which come first. */
  order: 'newest' | 'oldest'
}

const blank = 'none'

/**
 * Reads what stands behind the question mark of the fragment. What it does not know is not asked for.
 *
 * @param search `status=accepted&search=acme`.
 */
export function filtersFrom(search: string): Filters {
  const given = new URLSearchParams(search)
  const one = <Value extends string>(name: string, values: readonly Value[]) =>
    values.find((value) => value === given.get(name))
  const choice = <Value extends string>(name: string, values: readonly Value[]) =>
    given.get(name) === blank ? ('' as const) : (one(name, values) ?? null)
  const day = (name: string) => {
    const value = given.get(name) ?? ''
    return /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(startOf(value).getTime()) ? value : ''
  }
  const status = one('status', ['all', ...keys(statuses)]) ?? 'new'
  return {
    status,
    search: given.get('search') ?? '',
    team_size: choice('team_size', keys(teamSizes)),
    paid_solution: choice('paid_solution', keys(paidSolutions)),
    answer: (isAsked(status) ? one('answer', keys(answerStates)) : undefined) ?? null,
    from: day('from'),
    to: day('to'),
    order: one('order', ['oldest']) ?? 'newest',
  }
}

/** What stands behind the question mark for this, as short as it can be. */
export function searchOf(filters: Filters): string {
  const { status, search, team_size, paid_solution, answer, from, to, order } = filters
  const given: [string, string | null][] = [
    ['status', status === 'new' ? null : status],
    ['search', search || null],
    ['team_size', team_size === '' ? blank : team_size],
    ['paid_solution', paid_solution === '' ? blank : paid_solution],
    ['answer', isAsked(status) ? answer : null],
    ['from', from || null],
    ['to', to || null],
    ['order', order === 'newest' ? null : order],
  ]
  const said = given.filter((entry): entry is [string, string] => entry[1] !== null)
  return new URLSearchParams(said).toString()
}

/** Whether a tab has people who are asked whether they come. In any other, that filter would let nobody through. */
function isAsked(status: Filters['status']) {
  return status === 'accepted' || status === 'all'
}

/** The same as the database is asked: days begin and end as the organiser's do. */
export function filterOf(filters: Filters): Filter {
  const { status, search, team_size, paid_solution, answer, from, to, order } = filters
  const until = to === '' ? undefined : startOf(to)
  // The day after: not so many hours later, since some days have 23.
  until?.setDate(until.getDate() + 1)
  return {
    ...(status === 'all' ? {} : { status }),
    ...(search.trim() === '' ? {} : { search: search.trim() }),
    ...(team_size === null ? {} : { team_size }),
    ...(paid_solution === null ? {} : { paid_solution }),
    ...(answer === null ? {} : { answer }),
    ...(from === '' ? {} : { since: startOf(from).toISOString() }),
    ...(until === undefined ? {} : { until: until.toISOString() }),
    ...(order === 'newest' ? {} : { order }),
  }
}

/** Whether a search or a filter lets less through than a tab has. */
export function isNarrowed({ search, team_size, paid_solution, answer, from, to }: Filters): boolean {
  return (
    search.trim() !== '' ||
    from !== '' ||
    to !== '' ||
    [team_size, paid_solution, answer].some((value) => value !== null)
  )
}

/** The last word of a search, where it is too short for more to be found by it than this very word; else blank. */
export function wholeWordOf(search: string): string {
  const last =
    search
      .trim()
      .split(/[\s@.:/_+<>&-]/)
      .at(-1) ?? ''
  return /^.{1,2}$/u.test(last) ? last : ''
}

function startOf(day: string) {
  return new Date(`${day}T00:00`)
}

function keys<Key extends string>(record: Record<Key, unknown>) {
  return Object.keys(record) as Key[]
}
