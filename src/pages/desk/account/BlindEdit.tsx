import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'

import { announce } from '../kit/announce.tsx'
import { Switch } from '../kit/Field.tsx'
import { Problem } from '../kit/Problem.tsx'
import { Sheet } from '../kit/Screen.tsx'
import { useDesk, useDeskAct } from '../kit/useDesk.tsx'

/** The switch of an organiser who wants to read without knowing who wrote. */
export function BlindEdit() {
  const queries = useQueryClient()
  const desk = useDesk()
  const { data, error } = useQuery(desk.blind())
  // Shown for as long as it is on its way.
  const [wanted, setWanted] = useState<boolean | null>(null)
  const change = useDeskAct(
    'desk_set_blind',
    async (answer) => {
      // Whatever was read of applications shows too much now, or too little.
      await queries.resetQueries({ predicate: ({ queryKey: [of] }) => of !== 'account' })
      desk.keep(desk.blind(), () => answer)
      setWanted(null)
      announce(answer.blind ? 'Blind reading is on.' : 'Blind reading is off.')
    },
    { onFailure: () => setWanted(null) },
  )
  return (
    <Sheet title="Reading">
      <Switch
        label="Blind reading"
        hint="Hides name, e-mail, telephone, LinkedIn and company everywhere, for you alone. Search then covers the reasons and the custom answers. In an application you can reveal them one by one, which its history keeps."
        isOn={wanted ?? data?.blind}
        onSwitch={(blind) => {
          if (wanted !== null) return
          setWanted(blind)
          change.press({ blind })
        }}
      />
      <Problem error={error ?? change.error} />
    </Sheet>
  )
}
