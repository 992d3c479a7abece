import { mostAtOnce } from '../../../application/limits.ts'
import type { Filter, Page, Selected } from '../../../client/desk/applications.ts'
import type { Count } from '../../../client/desk/count.ts'
import { announce } from '../kit/announce.tsx'
import { focusOn } from '../kit/focus.ts'
import { digits, upTo } from '../kit/format.ts'
import { Problem } from '../kit/Problem.tsx'
import { useAct } from '../kit/useAct.ts'
import { useDesk } from '../kit/useDesk.tsx'

interface ApplicationSelectProps {
  filter: Filter
  /** How many applications the filter lets through. */
  matching: Count
  onSelect: (all: readonly Selected[]) => void
}

/** Selects the applications that a filter lets through, shown or not, at most as many as one call takes. */
export function ApplicationSelect({ filter, matching, onSelect }: ApplicationSelectProps) {
  const { call } = useDesk()
  const { isPending, error, press } = useAct(
    async (_given: undefined, signal) => {
      const all: Selected[] = []
      let after: Page<Selected>['next'] = null
      do {
        const page: Page<Selected> = await call('desk_select', { filter, after }, signal)
        all.push(...page.applications)
        after = page.next
      } while (after !== null && all.length < mostAtOnce)
      return all.slice(0, mostAtOnce)
    },
    {
      onSuccess(all) {
        onSelect(all)
        announce(`${digits(all.length)} selected`)
        // The pressed button disappears.
        focusOn(document.querySelector('.tick input'))
      },
    },
  )
  const isCut = matching.count > mostAtOnce || (matching.more && matching.count === mostAtOnce)
  return (
    <>
      <button className="quiet" aria-disabled={isPending} onClick={() => press(undefined)}>
        {isCut
          ? `Select the first ${digits(mostAtOnce)} that match`
          : `Select all ${upTo(matching)} that match`}
      </button>
      <Problem said="Not selected:" error={error} />
    </>
  )
}
