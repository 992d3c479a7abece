import { maxPerCall } from '../../../application/limits.ts'
import type { Filter, Page, SelectedApplication } from '../../../client/desk/applications.ts'
import type { Count } from '../../../client/desk/count.ts'
import { useDesk } from '../data/useDesk.tsx'
import { announce } from '../kit/announce.tsx'
import { Button } from '../kit/Button.tsx'
import { formatCount, formatNumber } from '../kit/format.ts'
import { Problem } from '../kit/Problem.tsx'
import { useAct } from '../kit/useAct.ts'

interface SelectMatchingProps {
  filter: Filter
  /** Number of applications that match the filter. */
  matching: Count
  onSelect: (all: readonly SelectedApplication[]) => void
}

/** A button that selects all applications that match a filter, shown or not, up to the limit of one call. */
export function SelectMatching({ filter, matching, onSelect }: SelectMatchingProps) {
  const { call } = useDesk()
  const { isPending, error, press } = useAct(
    async (_args: undefined, signal) => {
      const all: SelectedApplication[] = []
      let after: Page<SelectedApplication>['next'] = null
      do {
        const page: Page<SelectedApplication> = await call('desk_select', { filter, after }, signal)
        all.push(...page.applications)
        after = page.next
      } while (after !== null && all.length < maxPerCall)
      return all.slice(0, maxPerCall)
    },
    {
      onSuccess(all) {
        onSelect(all)
        announce(`${formatNumber(all.length)} selected`)
      },
    },
  )
  const exceedsLimit = matching.count > maxPerCall || (matching.more && matching.count === maxPerCall)
  return (
    <>
      <Button isOff={isPending} onPress={() => press(undefined)}>
        {exceedsLimit
          ? `Select the first ${formatNumber(maxPerCall)} that match`
          : `Select all ${formatCount(matching)} that match`}
      </Button>
      <Problem message="Not selected:" error={error} />
    </>
  )
}
