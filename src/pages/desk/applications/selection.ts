import type { Selected } from '../../../client/desk/applications.ts'

/** An application with the version of its status that is shown. */
type Versioned = Pick<Selected, 'id' | 'version'>

/** What an organiser selected in a list. */
export interface Selection {
  /** By their ids, the versions that were shown: an application that changes afterwards is no longer selected. */
  ticked: ReadonlyMap<string, number>
  /** Applications that were selected without having been shown. */
  beyond: readonly Selected[]
  /** The application that was ticked or unticked last, from which a range begins. */
  last: string | null
}

export const nothing: Selection = { ticked: new Map(), beyond: [], last: null }

/**
 * The ids of what is still selected.
 *
 * @param known All that is shown or was selected beyond it, as it is now.
 */
export function selectedOf({ ticked }: Selection, known: readonly Versioned[]): ReadonlySet<string> {
  return new Set(known.filter(({ id, version }) => ticked.get(id) === version).map(({ id }) => id))
}

/** Adds applications to a selection, or takes them out. What has changed since it was selected is dropped. */
export function select(
  selection: Selection,
  known: readonly Versioned[],
  ids: readonly string[],
  isOn: boolean,
): Selection {
  const selected = new Set(selectedOf(selection, known))
  for (const id of ids) {
    if (isOn) selected.add(id)
    else selected.delete(id)
  }
  const ticked = new Map(
    known.filter(({ id }) => selected.has(id)).map(({ id, version }) => [id, version] as const),
  )
  return { ...selection, ticked, last: ids.at(-1) ?? selection.last }
}

/** Selects applications that need not be shown, and nothing else. */
export function selectBeyond(beyond: readonly Selected[]): Selection {
  return { ticked: new Map(beyond.map(({ id, version }) => [id, version])), beyond, last: null }
}

/** The ids from the application that was ticked last to this one, which comes last; without such a one, this one alone. */
export function rangeTo({ last }: Selection, rows: readonly Versioned[], id: string): readonly string[] {
  const ids = rows.map((row) => row.id)
  const [from, to] = [last === null ? -1 : ids.indexOf(last), ids.indexOf(id)]
  if (from === -1) return [id]
  return from < to ? ids.slice(from, to + 1) : ids.slice(to, from + 1).toReversed()
}
