import type { Letter } from '../../../client/desk.ts'
import { useTyped } from '../typed.ts'

/** What somebody makes of a draft, and has not saved. */
export interface Edit extends Pick<Letter, 'application' | 'name' | 'subject' | 'body'> {
  /** The text that it is to be saved over, as the draft's `seen` tells it. */
  over: string
}

/**
 * What is being made of the drafts of an occasion, by their ids; kept also of those that left the list.
 *
 * @returns It, and what keeps something else of one draft, null for nothing.
 */
export function useEdits(occasion: string) {
  const [edits, type] = useTyped<Record<string, Edit>>(`drafts ${occasion}`)
  const keep = (id: string, edit: Edit | null) =>
    type((latest) => {
      const { [id]: _former, ...others } = latest ?? {}
      const changed = edit === null ? others : { ...others, [id]: edit }
      return Object.keys(changed).length === 0 ? null : changed
    })
  return [edits ?? {}, keep] as const
}
