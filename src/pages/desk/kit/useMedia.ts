import { useCallback, useSyncExternalStore } from 'react'

/** A cache of media queries: creating one takes 1 ms on a slow phone. */
const queries = new Map<string, MediaQueryList>()

/** Whether a media query matches, such as `print`. False during server rendering. */
export function useMedia(query: string): boolean {
  const subscribe = useCallback(
    (onChange: () => void) => {
      const media = mediaOf(query)
      media.addEventListener('change', onChange)
      return () => media.removeEventListener('change', onChange)
    },
    [query],
  )
  return useSyncExternalStore(
    subscribe,
    () => mediaOf(query).matches,
    () => false,
  )
}

function mediaOf(query: string) {
  const media = queries.get(query) ?? matchMedia(query)
  queries.set(query, media)
  return media
}
