import { MoreButton } from '../kit/MoreButton.tsx'
import { momentOf } from '../kit/format.ts'
import type { List } from '../data/list.ts'
import { Problem } from '../kit/Problem.tsx'
import { useAct } from '../kit/useAct.ts'
import { useDesk } from '../data/useDesk.tsx'

interface ApplicationListFootProps {
  list: List
  onMore: () => void
}

/** The foot of the list: the More button, errors, and how far a search has got. */
export function ApplicationListFoot({ list: { filter, next, isPartial }, onMore }: ApplicationListFootProps) {
  const desk = useDesk()
  const { isPending, error, press } = useAct((_args: undefined, signal) => desk.readMore(filter, signal))
  if (next === null) return null
  const readMore = () => press(undefined)
  return (
    <>
      <Problem error={error} onTryAgain={readMore} />
      {!error && (
        <p className="layout-row">
          <MoreButton
            query={{ hasNextPage: true, isFetchingNextPage: isPending, fetchNextPage: readMore }}
            onPress={onMore}
          />
          {isPartial && (
            <span className="layout-quiet">
              Searched as far as {momentOf(next.created_at)}. Narrow the search, or press More to go on.
            </span>
          )}
        </p>
      )}
    </>
  )
}
