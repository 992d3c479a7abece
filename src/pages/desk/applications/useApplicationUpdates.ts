import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'

import type { Filter } from '../../../client/desk/applications.ts'
import { RefusedCall } from '../../../client/rest.ts'
import { useApplicationQueries } from './application-queries.ts'
import { afterFrame } from './after-frame.ts'
import { announce } from '../kit/announce.tsx'
import { useDecisionQueue } from '../data/useDesk.tsx'
import { isBeingSent } from '../letters/letters.ts'
import { timelineOf } from './ApplicationTimeline.tsx'
import { unseenNotes, useSeenNotes } from './useSeenNotes.ts'

/**
 * Keeps a shown application up to date and finds its new events.
 *
 * @param filter The filter of the list that it was opened from.
 * @returns `data`, `error` and `refetch` of the query; `isErased`, whether the query failed because of an erasure;
 *   `newKeys`, the keys of events since the last look; `changedBy`, the other organiser who set the shown status meanwhile.
 */
export function useApplicationUpdates(id: string, filter: Filter) {
  const { application, stamp } = useApplicationQueries()
  const { queue } = useDecisionQueue()
  const {
    data,
    error,
    dataUpdatedAt: readAt,
    refetch,
  } = useQuery({
    ...application(id, filter),
    // Prefetched data is painted before it is refetched.
    refetchOnMount: false,
    // If the list beside the application gets another filter, the application is read again and stays on screen.
    placeholderData: (former) => (former?.application.id === id ? former : undefined),
  })
  const wasPrefetched = useRef(data !== undefined)
  useEffect(() => (wasPrefetched.current ? afterFrame(() => void refetch()) : undefined), [refetch])
  const stampQuery = useQuery({
    ...stamp(id, () => data?.letters.some((letter) => isBeingSent(letter)) === true),
    enabled: data !== undefined && error === null,
    // The stamp changes whenever the application does. The response with the application includes it.
    ...(data && { initialData: { stamp: data.stamp } }),
    staleTime: Infinity,
  })
  const knownKeys = useRef<ReadonlySet<string>>(undefined)
  const stampChanged = useRef(false)
  const [newKeys, setNewKeys] = useState<ReadonlySet<string>>(new Set())

  // The refetch below then fails, which shows that the application was erased.
  const isGone = isErased(stampQuery.error)
  // A stamp that was read before the last refetch does not count.
  const isChanged =
    stampQuery.data !== undefined &&
    stampQuery.data.stamp !== data?.stamp &&
    stampQuery.dataUpdatedAt > readAt
  useEffect(() => {
    if (!isGone && !isChanged) return
    stampChanged.current = true
    void refetch()
  }, [isGone, isChanged, refetch])

  useEffect(() => {
    if (data === undefined) return
    const events = timelineOf(data)
    const former = knownKeys.current
    const hasStampChanged = stampChanged.current
    knownKeys.current = new Set(events.map(({ key }) => key))
    stampChanged.current = false
    const unseen = new Set(unseenNotes(data).map(({ act }) => act))
    // Automatic events after the organiser's own act do not count as new.
    const newEvents = events.filter(({ key, author }) =>
      former ? !former.has(key) && (author === null ? hasStampChanged : author !== data.me) : unseen.has(key),
    )
    if (newEvents.length === 0) return
    setNewKeys((before) => new Set([...before, ...newEvents.map(({ key }) => key)]))
    const authors = [...new Set(newEvents.map(({ author }) => author))].filter((author) => author !== null)
    // The organiser's own acts already announce their outcome.
    if (hasStampChanged) announce(`${authors.join(', ') || 'Something'} changed this just now`)
  }, [data])

  useSeenNotes(data)

  const lastDecision = data?.history.findLast(({ kind }) => kind === 'status')
  const isChangeShown =
    data !== undefined &&
    lastDecision?.kind === 'status' &&
    newKeys.has(lastDecision.act) &&
    queue.currentOf(data.application).status === lastDecision.detail.status
  return {
    data,
    error,
    refetch,
    isErased: isErased(error),
    newKeys,
    changedBy: isChangeShown ? lastDecision.author : undefined,
  }
}

function isErased(error: unknown) {
  return error instanceof RefusedCall && error.code === 'PT404'
}
