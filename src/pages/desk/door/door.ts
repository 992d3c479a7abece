import { useQuery, useQueryClient } from '@tanstack/react-query'
import { PostgrestError } from '@supabase/postgrest-js'

import type { CallDesk, Door, GeneralHappening } from '../../../client/desk.ts'
import { useAct } from '../acts.ts'
import { announce } from '../announcement.ts'
import { changeFrom, type Entries } from './entries.ts'
import { doorSentence } from './door-words.ts'

/** How the door stands, and what happened. */
export type DoorState = Door & { history: GeneralHappening[] }

/** Milliseconds between two looks at how it stands. */
const lookAgain = 20_000

const queryKey = ['door']

/** How the door stands, looked at again and again while the page is seen. */
export function useDoor(callDesk: CallDesk) {
  return useQuery({
    queryKey,
    queryFn: ({ signal }) => callDesk('desk_door', {}, signal),
    refetchInterval: lookAgain,
    refetchOnWindowFocus: true,
  })
}

/** Raised where the door stands otherwise than whoever saves has seen. */
export class ChangedMeanwhile extends Error {}

/**
 * Saves what was entered over the door that is shown; where that is no longer how it stands, it is read anew.
 *
 * @param onSaved Called with how it stands and what was entered.
 */
export function useSaveDoor(callDesk: CallDesk, onSaved: (saved: Door, entered: Entries) => void) {
  const queries = useQueryClient()
  const save = async ({ entries, shown }: { entries: Entries; shown: Door }, signal: AbortSignal) => {
    try {
      return await callDesk('desk_set_door', changeFrom(entries, shown), signal)
    } catch (error) {
      throw error instanceof PostgrestError && error.code === 'PT409' ? new ChangedMeanwhile() : error
    }
  }
  return useAct(save, {
    onSuccess: (saved, { entries }) => {
      onSaved(saved, entries)
      queries.setQueryData<DoorState>(queryKey, (former) => former && { ...former, ...saved })
      announce(`Saved. ${doorSentence(saved)}`)
    },
    onSettled: () => queries.invalidateQueries({ queryKey }),
  })
}
