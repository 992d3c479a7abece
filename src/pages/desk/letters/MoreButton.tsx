/** Reads the next page. */
export function MoreButton({ isUnderWay, onPress }: { isUnderWay: boolean; onPress: () => void }) {
  return (
    <button className="quiet" aria-disabled={isUnderWay} onClick={() => !isUnderWay && onPress()}>
      More
    </button>
  )
}
