import { useQuery } from '@tanstack/react-query'

import type { Notices } from '../../../client/desk.ts'
import { announce } from '../kit/announce.tsx'
import { momentOf } from '../kit/format.ts'
import { Problem } from '../kit/Problem.tsx'
import { Loading, Sheet } from '../kit/Screen.tsx'
import { useDesk, useDeskAct } from '../kit/useDesk.tsx'

type Choice = Notices['notices']

const choices: [Choice, string][] = [
  ['off', 'None'],
  ['each', 'One for each application; above ten an hour, the day’s mail tells of the rest'],
  ['daily', 'One a day, with the number and the names'],
]

/** Which mails tell the organiser of new applications; as the database keeps it, never as it was pressed. */
export function NoticesEdit() {
  const desk = useDesk()
  const { data: kept, error } = useQuery(desk.notices())
  const save = useDeskAct(
    'desk_set_notices',
    (saved) => {
      desk.keep(desk.notices(), () => saved)
      announce('Saved.')
    },
    { keepsLast: true },
  )
  return (
    <Sheet title="Mails about new applications">
      {!kept && !error && <Loading />}
      {kept && (
        <>
          <fieldset>
            <legend>Mails to {kept.email}</legend>
            {choices.map(([notices, words]) => (
              <label key={notices} className="choice">
                <input
                  type="radio"
                  name="notices"
                  checked={kept.notices === notices}
                  onChange={() => save.press({ notices })}
                />
                <span>{words}</span>
              </label>
            ))}
          </fieldset>
          {kept.day_due_at !== null && <p>The day’s mail is due {momentOf(kept.day_due_at)}.</p>}
          {kept.notices !== 'off' && !kept.is_postman_there && (
            <p>They leave when a server that has a mail server is at work.</p>
          )}
        </>
      )}
      <Problem error={error} />
      <Problem said="Not saved." error={save.error} />
    </Sheet>
  )
}
