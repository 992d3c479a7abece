import { useState } from 'react'

import type { LettersOverview } from '../../../client/desk.ts'
import { announce } from '../kit/announce.tsx'
import { Switch } from '../kit/Field.tsx'
import { hrefOf } from '../kit/places.ts'
import { Problem } from '../kit/Problem.tsx'
import { useDesk, useDeskAct } from '../kit/useDesk.tsx'
import { received } from './letters.ts'

/** Whether whoever applies is sent a receipt. */
export function ReceiptEdit({ overview: { settings, postman } }: { overview: LettersOverview }) {
  const { version, reply_to } = settings
  // Shown at once, until it shows in how it stands.
  const [wish, setWish] = useState<{ isOn: boolean; over: number } | null>(null)
  const desk = useDesk()
  const save = useDeskAct(
    'desk_set_letters',
    (saved) => {
      desk.keep(desk.letters(), (former) => ({ ...former, settings: { ...former.settings, ...saved } }))
      announce(saved.receipts ? 'Receipts are on.' : 'Receipts are off.')
    },
    { onFailure: () => setWish(null) },
  )
  const isUnderWay = wish?.over === version
  return (
    <>
      <Switch
        label="Send a receipt to whoever applies"
        hint="It goes by itself once an application is stored: one to an address within a day, none later than a day after."
        isOn={isUnderWay ? wish.isOn : settings.receipts}
        onSwitch={(receipts) => {
          if (isUnderWay) return
          setWish({ isOn: receipts, over: version })
          save.press({ version, reply_to, receipts })
        }}
      />
      {settings.receipts && !postman.is_there && (
        <p>None leaves before a server that has a mail server is at work.</p>
      )}
      <Problem said="Not saved." error={save.error} />
      <p>
        <a href={hrefOf({ screen: 'template', occasion: received })}>What the receipt says</a>
      </p>
    </>
  )
}
