import { useState } from 'react'
import { Link } from 'wouter'

import type { CallDesk, LettersOverview } from '../../../client/desk.ts'
import { announce } from '../announcement.ts'
import { sentenceOf } from '../messages.ts'
import { useKeepStanding, useLetterAct } from './letters.ts'
import { templateOf } from './places.ts'
import { received } from './words.ts'

interface ReceiptSwitchProps {
  callDesk: CallDesk
  overview: LettersOverview
}

/** Whether whoever applies is sent a receipt. */
export function ReceiptSwitch({ callDesk, overview: { settings, postman } }: ReceiptSwitchProps) {
  // Shown at once, until it shows in how it stands: a mutation tells a moment later that it began.
  const [wish, setWish] = useState<{ isOn: boolean; over: number } | null>(null)
  const keepStanding = useKeepStanding()
  const save = useLetterAct(
    (receipts: boolean, signal) =>
      callDesk(
        'desk_set_letters',
        { version: settings.version, reply_to: settings.reply_to, receipts },
        signal,
      ),
    (saved) => {
      keepStanding((former) => ({ ...former, settings: { ...former.settings, ...saved } }))
      announce(saved.receipts ? 'Receipts are on.' : 'Receipts are off.')
    },
  )
  const isUnderWay = wish?.over === settings.version
  const isOn = isUnderWay ? wish.isOn : settings.receipts
  return (
    <>
      <label className="switch">
        <input
          type="checkbox"
          role="switch"
          checked={isOn}
          aria-checked={isOn}
          aria-describedby="about-receipt"
          onChange={({ target }) => {
            if (isUnderWay) return
            setWish({ isOn: target.checked, over: settings.version })
            save.mutate(target.checked, { onError: () => setWish(null) })
          }}
        />
        Send a receipt to whoever applies
      </label>
      <p className="hint" id="about-receipt">
        It goes by itself once an application is stored: one to an address within a day, none later than a day
        after.
      </p>
      {settings.receipts && !postman.is_there && (
        <p>None leaves before a server that has a mail server is at work.</p>
      )}
      {save.error && <p role="alert">Not saved. {sentenceOf(save.error)}</p>}
      <p>
        <Link href={templateOf(received)}>What the receipt says</Link>
      </p>
    </>
  )
}
