import { Button } from './Button.tsx'

interface MoreButtonProps {
  /** The query that is read page by page. */
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown }
  /** Called before it is read, by a list that moves the focus itself after the last page. */
  onPress?: () => void
}

/** A button that reads the next page; hidden after the last page. */
export function MoreButton({ query, onPress }: MoreButtonProps) {
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query
  if (!hasNextPage) return null
  const press = () => {
    onPress?.()
    void fetchNextPage()
  }
  return (
    <Button isOff={isFetchingNextPage} onPress={press}>
      More
    </Button>
  )
}
