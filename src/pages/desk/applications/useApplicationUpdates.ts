import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'

import type { Filter } from '../../../client/desk/applications.ts'
import { RefusedCall } from '../../../client/rest.ts'
import { afterFrame } from '../kit/after-frame.ts'
import { announce } from '../kit/announce.tsx'
import { useDesk, useDecisionQueue } from '../kit/useDesk.tsx'
import { timelineOf } from './ApplicationTimeline.tsx'

/**
 * An application as long as it is shown. It is read again where it changed, and new events are marked.
 *
 * @param filter Of the list that it was opened from.
 * @returns What was read; `fresh`, the keys of the events that came; `changed`, who else set the status that is shown.
 */
export function useApplicationUpdates(id: string, filter: Filter) {
  const desk = useDesk()
  const { queue } = useDecisionQueue()
  const {
    data,
    error,
    dataUpdatedAt: readAt,
    refetch,
  } = useQuery({
    ...desk.application(id, filter),
    // What was read ahead is painted first.
    refetchOnMount: false,
    // It stays while the list beside it is narrowed.
    placeholderData: (former) => (former?.application.id === id ? former : undefined),
  })
  const isReadAhead = useRef(data !== undefined)
  useEffect(() => (isReadAhead.current ? afterFrame(() => void refetch()) : undefined), [refetch])
  const look = useQuery({
    ...desk.stamp(id),
    enabled: data !== undefined && error === null,
    // It came with the application.
    ...(data && { initialData: { stamp: data.stamp } }),
    staleTime: Infinity,
  })
  const known = useRef<ReadonlySet<string>>(undefined)
  const isAfterLook = useRef(false)
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set())

  // Reading it again tells that it was erased.
  const isGone = look.error instanceof RefusedCall && look.error.code === 'PT404'
  // An answer about the application before it was read again does not count.
  const isOther = look.data !== undefined && look.data.stamp !== data?.stamp && look.dataUpdatedAt > readAt
  useEffect(() => {
    if (!isGone && !isOther) return
    isAfterLook.current = true
    void refetch()
  }, [isGone, isOther, refetch])

  useEffect(() => {
    if (data === undefined) return
    const events = timelineOf(data)
    const former = known.current
    const looked = isAfterLook.current
    known.current = new Set(events.map(({ key }) => key))
    isAfterLook.current = false
    // What happens by itself after an act of one's own is no news.
    const came = events.filter(
      ({ key, author }) => former?.has(key) === false && (author === null ? looked : author !== desk.email),
    )
    if (came.length === 0) return
    setFresh((before) => new Set([...before, ...came.map(({ key }) => key)]))
    const authors = [...new Set(came.map(({ author }) => author))].filter((author) => author !== null)
    // An act of one's own announces its outcome by itself.
    if (looked) announce(`${authors.join(', ') || 'Something'} changed this just now`)
  }, [data, desk])

  const last = data?.history.findLast(({ kind }) => kind === 'status')
  const isShown =
    data !== undefined &&
    last?.kind === 'status' &&
    fresh.has(last.act) &&
    queue.shownOf(data.application).status === last.detail.status
  return { data, error, fresh, changed: isShown ? last.author : undefined }
}
