import { useQuery } from '@tanstack/react-query'

import type { Guest, GuestPage } from '../../../client/desk/questions.ts'
import { polled } from '../data/queries.ts'
import { useDesk } from '../data/useDesk.tsx'

/** The questions to the guests of a retreat; by default, of the newest. */
export function useQuestions(edition?: number) {
  const { call } = useDesk()
  return useQuery({
    queryKey: ['questions', 'list', edition],
    queryFn: ({ signal }) => call('desk_questions', { edition }, signal),
    ...polled,
  })
}

/** The questions and all guests, with their answers, of a retreat; by default, of the newest. */
export function useGuests(edition?: number) {
  const { call } = useDesk()
  return useQuery({
    queryKey: ['questions', 'guests', edition],
    async queryFn({ signal }) {
      const asked = await call('desk_questions', { edition }, signal)
      const guests: Guest[] = []
      let after: GuestPage['next'] = null
      do {
        const page: GuestPage = await call('desk_guests', { after, edition }, signal)
        guests.push(...page.guests)
        after = page.next
      } while (after !== null)
      return { asked, guests }
    },
    ...polled,
  })
}
