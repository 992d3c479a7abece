import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'

import type { CallDesk, LettersOverview, Notices } from '../../../client/desk.ts'
import { insistOnConnection } from '../acts.ts'
import { announce } from '../announcement.ts'
import { momentOf } from '../dates.ts'
import { sentenceOf } from '../messages.ts'

const choices: Record<Notices['notices'], string> = {
  off: 'None',
  each: 'One for each application; above ten an hour, the day’s mail tells of the rest',
  daily: 'One a day, with the number and the names',
}

const queryKey = ['notices']

interface HearingProps extends Pick<LettersOverview, 'postman'> {
  callDesk: CallDesk
}

/** Which mails tell the organiser of new applications; as the database keeps it, never as it was pressed. */
export function Hearing({ callDesk, postman }: HearingProps) {
  const queries = useQueryClient()
  const { data: kept, error } = useQuery({
    queryKey,
    queryFn: ({ signal }) => callDesk('desk_notices', {}, signal),
  })
  const save = useMutation({
    // One after the other: the last one that was pressed stays.
    scope: { id: 'notices' },
    mutationFn: async (notices: Notices['notices']) => {
      insistOnConnection()
      return callDesk('desk_set_notices', { notices })
    },
    onSuccess: (saved) => {
      queries.setQueryData(queryKey, saved)
      announce('Saved.')
    },
  })
  const problem = save.error ?? error
  return (
    <>
      {!kept && !error && <p aria-busy="true">Loading…</p>}
      {kept && (
        <fieldset className="choices">
          <legend>Mails to {kept.email}</legend>
          {Object.entries(choices).map(([notices, words]) => (
            <label key={notices} className="choice">
              <input
                type="radio"
                name="notices"
                checked={kept.notices === notices}
                onChange={() => save.mutate(notices as Notices['notices'])}
              />
              <span>{words}</span>
            </label>
          ))}
        </fieldset>
      )}
      {kept && kept.day_due_at !== null && <p>The day’s mail is due {momentOf(kept.day_due_at)}.</p>}
      {kept && kept.notices !== 'off' && !postman.is_there && (
        <p>They leave when a server that has a mail server is at work.</p>
      )}
      {problem && (
        <p role="alert">{save.error ? `Not saved. ${sentenceOf(problem)}` : sentenceOf(problem)}</p>
      )}
    </>
  )
}
