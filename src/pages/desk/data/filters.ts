import { paidSolutions, teamSizes, type Application } from '../../../application/application.ts'
import { rsvpStates, statuses, type RsvpState, type Status } from '../../../application/statuses.ts'
import type { Filter } from '../../../client/desk/applications.ts'

/** The filters of a list, as they appear in the address. */
export interface Filters {
  /** The number of a retreat; undefined means the newest. */
  edition?: number | undefined
  status: Status | 'all'
  search: string
  /** Null means any value; blank means not answered. */
  team_size: Application['team_size'] | null
  paid_solution: Application['paid_solution'] | null
  /** The RSVP of accepted people; null means any. */
  answer: RsvpState | null
  /** Days such as `2026-12-31`, both inclusive; blank means no limit. */
  from: string
  to: string
  /** Null means any. */
  marks: NonNullable<Filter['marks']> | null
  order: 'newest' | NonNullable<Filter['order']>
}

/** The value in the address for form answers that are blank. */
const blank = 'none'

/**
 * Parses the query part of the fragment. Unknown or invalid values are ignored.
 *
 * @param query Such as `status=accepted&search=acme`.
 */
export function filtersFrom(query: string): Filters {
  const parameters = new URLSearchParams(query)
  const oneOf = <Value extends string>(name: string, values: readonly Value[]) =>
    values.find((value) => value === parameters.get(name))
  const choice = <Value extends string>(name: string, values: readonly Value[]) =>
    parameters.get(name) === blank ? ('' as const) : (oneOf(name, values) ?? null)
  const day = (name: string) => {
    const value = parameters.get(name) ?? ''
    return /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(startOf(value).getTime()) ? value : ''
  }
  const status = oneOf('status', ['all', ...keys(statuses)]) ?? 'new'
  return {
    edition: Math.trunc(Number(parameters.get('edition'))) || undefined,
    status,
    search: parameters.get('search') ?? '',
    team_size: choice('team_size', keys(teamSizes)),
    paid_solution: choice('paid_solution', keys(paidSolutions)),
    answer: (mayHaveRsvp(status) ? oneOf('answer', keys(rsvpStates)) : undefined) ?? null,
    from: day('from'),
    to: day('to'),
    marks: oneOf('marks', ['none of mine', 'disagree'] as const) ?? null,
    order: oneOf('order', ['oldest', 'most yes', 'shuffled']) ?? 'newest',
  }
}

/** The query part of the fragment for these filters. Default values are omitted. */
export function searchOf(filters: Filters): string {
  const { edition, status, search, team_size, paid_solution, answer, from, to, marks, order } = filters
  const parameters: [string, string | null][] = [
    ['edition', edition ? `${edition}` : null],
    ['status', status === 'new' ? null : status],
    ['search', search || null],
    ['team_size', team_size === '' ? blank : team_size],
    ['paid_solution', paid_solution === '' ? blank : paid_solution],
    ['answer', mayHaveRsvp(status) ? answer : null],
    ['from', from || null],
    ['to', to || null],
    ['marks', marks],
    ['order', order === 'newest' ? null : order],
  ]
  const entries = parameters.filter((entry): entry is [string, string] => entry[1] !== null)
  return new URLSearchParams(entries).toString()
}

/** Whether a tab contains people with an RSVP. In the other tabs, a filter by RSVP would match nobody. */
function mayHaveRsvp(status: Filters['status']) {
  return status === 'accepted' || status === 'all'
}

/** Converts the filters into those of the database. Days begin and end in the organiser's time zone. */
export function filterOf(filters: Filters): Filter {
  const { edition, status, search, team_size, paid_solution, answer, from, to, marks, order } = filters
  const until = to === '' ? undefined : startOf(to)
  // Adds a day instead of 24 hours: some days have 23.
  until?.setDate(until.getDate() + 1)
  return {
    ...(edition ? { edition } : {}),
    ...(status === 'all' ? {} : { status }),
    ...(search.trim() === '' ? {} : { search: search.trim() }),
    ...(team_size === null ? {} : { team_size }),
    ...(paid_solution === null ? {} : { paid_solution }),
    ...(answer === null ? {} : { answer }),
    ...(from === '' ? {} : { since: startOf(from).toISOString() }),
    ...(until === undefined ? {} : { until: until.toISOString() }),
    ...(marks === null ? {} : { marks }),
    ...(order === 'newest' ? {} : { order }),
  }
}

/** Whether a search or a filter narrows the tab. */
export function isNarrowed({ search, team_size, paid_solution, answer, from, to, marks }: Filters): boolean {
  return (
    search.trim() !== '' ||
    from !== '' ||
    to !== '' ||
    [team_size, paid_solution, answer, marks].some((value) => value !== null)
  )
}

/** The last word of a search if it has one or two characters, since it must then match exactly; otherwise blank. */
export function exactWordOf(search: string): string {
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
