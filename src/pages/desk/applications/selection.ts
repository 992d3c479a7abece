import type { SelectedApplication } from '../../../client/desk/applications.ts'

/** An application, with the version of the status that is shown. */
type Versioned = Pick<SelectedApplication, 'id' | 'version'>

/** The selection of an organiser in a list. */
export interface Selection {
  /** The version of each ticked application when it was ticked, by id. Applications that change later are not selected. */
  ticked: ReadonlyMap<string, number>
  /** The applications of the last `selectAllMatching`. Some may not be among the rows read. */
  allMatching: readonly SelectedApplication[]
  /** The application that was ticked or unticked last, where a range begins. */
  last: string | null
}

/** The empty selection. */
export const emptySelection: Selection = { ticked: new Map(), allMatching: [], last: null }

/**
 * The ids that are still selected.
 *
 * @param known The current versions of all applications shown or selected.
 */
export function selectedOf({ ticked }: Selection, known: readonly Versioned[]): ReadonlySet<string> {
  return new Set(known.filter(({ id, version }) => ticked.get(id) === version).map(({ id }) => id))
}

/** Adds applications to a selection, or removes them. Applications that have changed since they were ticked are dropped. */
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

/** Selects exactly these applications, shown or not. */
export function selectAllMatching(allMatching: readonly SelectedApplication[]): Selection {
  return { ticked: new Map(allMatching.map(({ id, version }) => [id, version])), allMatching, last: null }
}

/** The ids from the row ticked last to the given one, in that order. If the row ticked last is not shown, only the given id. */
export function rangeTo({ last }: Selection, rows: readonly Versioned[], id: string): readonly string[] {
  const ids = rows.map((row) => row.id)
  const [from, to] = [last === null ? -1 : ids.indexOf(last), ids.indexOf(id)]
  if (from === -1) return [id]
  return from < to ? ids.slice(from, to + 1) : ids.slice(to, from + 1).toReversed()
}
