import { useQuery } from '@tanstack/react-query'

import type { Filter, ListPage } from '../../../client/desk/applications.ts'
import { useDesk } from '../kit/useDesk.tsx'

/**
 * What happened meanwhile to the list that is shown, whose rows keep their places. The desk learns what was decided on them.
 * The hook gives what was erased, how many applications are missing, and the state of their letters and answers.
 *
 * @param pages Those of the list, once it was read.
 * @param countedAt When the applications were counted last.
 */
export function useListUpdates(filter: Filter, pages: readonly ListPage[] | undefined, countedAt: number) {
  const { data } = useQuery({
    ...useDesk().meanwhile(filter, countedAt),
    // Beside a list that has not come yet everything would be missing.
    enabled: countedAt > 0 && pages !== undefined,
  })
  const lettersRead = pages?.flatMap(({ letters }) => letters) ?? []
  if (data === undefined || data.first !== pages?.[0]) {
    return { gone: new Set(data?.gone), newer: 0, older: 0, more: false, letters: lettersRead, answers: {} }
  }
  const { gone, newer, older, more, letters, answers, shown } = data
  return {
    gone: new Set(gone),
    newer,
    older,
    more: more && newer + older > 0,
    answers,
    // The list may have been read on since.
    letters: [...lettersRead.filter(({ application }) => !shown.has(application)), ...letters],
  }
}
