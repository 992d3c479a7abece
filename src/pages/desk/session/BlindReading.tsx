import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'

import type { CallDesk } from '../../../client/desk.ts'
import { useAct } from '../acts.ts'
import { announce } from '../announcement.ts'
import { sentenceOf } from '../messages.ts'

const queryKey = ['account', 'blind']

/** The switch of an organiser who wants to read without knowing who wrote. */
export function BlindReading({ callDesk }: { callDesk: CallDesk }) {
  const queries = useQueryClient()
  const { data, error } = useQuery({
    queryKey,
    queryFn: ({ signal }) => callDesk('desk_blind', {}, signal),
  })
  // Shown at once: a mutation tells a moment later that it began.
  const [wanted, setWanted] = useState<boolean | null>(null)
  const change = useAct((blind: boolean, signal) => callDesk('desk_set_blind', { blind }, signal), {
    async onSuccess(answer) {
      // Whatever was read of applications shows too much now, or too little.
      await queries.resetQueries({ predicate: ({ queryKey: [of] }) => of !== 'account' })
      queries.setQueryData(queryKey, answer)
      announce(answer.blind ? 'Blind reading is on.' : 'Blind reading is off.')
    },
    onSettled: () => setWanted(null),
  })
  const problem = error ?? change.error
  const isOn = wanted ?? data?.blind
  return (
    <section className="sheet" aria-labelledby="blind">
      <h2 id="blind">Reading</h2>
      <label className="switch">
        <input
          type="checkbox"
          role="switch"
          checked={isOn ?? false}
          aria-checked={isOn ?? false}
          disabled={isOn === undefined}
          aria-describedby="about-blind"
          onChange={({ target }) => {
            if (wanted !== null) return
            setWanted(target.checked)
            change.mutate(target.checked)
          }}
        />
        Blind reading
      </label>
      <p className="hint" id="about-blind">
        Hides name, e-mail, telephone, LinkedIn and company everywhere, for you alone. Search then covers the
        reasons and the custom answers. In an application you can reveal them one by one, which its history
        keeps.
      </p>
      {problem && (
        <p className="problem" role="alert">
          {sentenceOf(problem)}
        </p>
      )}
    </section>
  )
}
