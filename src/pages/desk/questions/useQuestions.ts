import { useQuery } from '@tanstack/react-query'

import type { Guest, GuestPage } from '../../../client/desk/questions.ts'
import { polled } from '../kit/queries.ts'
import { useDesk } from '../kit/useDesk.tsx'

/** The questions to guests. */
export function useQuestions() {
  const { call } = useDesk()
  return useQuery({
    queryKey: ['questions', 'list'],
    queryFn: ({ signal }) => call('desk_questions', {}, signal),
    ...polled,
  })
}

/** The questions, and all guests with their answers. */
export function useGuests() {
  const { call } = useDesk()
  return useQuery({
    queryKey: ['questions', 'guests'],
    async queryFn({ signal }) {
      const { questions } = await call('desk_questions', {}, signal)
      const guests: Guest[] = []
      let after: GuestPage['next'] = null
      do {
        const page: GuestPage = await call('desk_guests', { after }, signal)
        guests.push(...page.guests)
        after = page.next
      } while (after !== null)
      return { questions, guests }
    },
    ...polled,
  })
}
