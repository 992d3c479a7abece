import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'

import type { HistoryEntry, OpenedApplication } from '../../../client/desk/applications.ts'
import { responseHandlerOf } from '../data/acts.ts'
import { useDesk } from '../data/useDesk.tsx'

/** The notes of others that the organiser had not seen when an application was read. */
export function unseenNotes({ history, me, notes_seen_until: until }: OpenedApplication): HistoryEntry[] {
  return history.filter(
    ({ kind, author, at }) => kind === 'note' && author !== me && Date.parse(at) > Date.parse(until),
  )
}

/** Tells the server that the organiser sees the notes of an application, so that its row in the list loses its dot. */
export function useSeenNotes(data: OpenedApplication | undefined): void {
  const desk = useDesk()
  const queries = useQueryClient()
  const application = data?.application.id
  const until = data && unseenNotes(data).at(-1)?.at
  useEffect(() => {
    if (application === undefined || until === undefined) return
    const args = { application, until }
    const handleResponse = responseHandlerOf(queries, desk)
    desk.call('desk_see_notes', args).then(
      (response) => handleResponse('desk_see_notes', response, args),
      () => {
        // The dot stays, and the next look tells the server again.
      },
    )
  }, [desk, queries, application, until])
}
