import { useState } from 'react'

import { maxPerCall, maxUnconfirmed } from '../../../application/limits.ts'
import type { Letter, LettersOverview, ReleaseOutcome } from '../../../client/desk/letters.ts'
import { ApplicationLink } from '../data/links.tsx'
import { Dialog } from '../kit/Dialog.tsx'
import { DialogForm } from '../kit/DialogForm.tsx'
import { Field } from '../kit/Field.tsx'
import { Tick } from '../kit/Tick.tsx'
import { countOf, dayOf } from '../kit/format.ts'
import { useDeskAct } from '../data/useDeskAct.ts'
import { usePlaces } from '../data/usePlaces.ts'
import { useReading } from '../data/useReading.ts'
import { isMistyped } from './mistyped.ts'
import {
  asksForRsvp,
  firstDeadlineOf,
  firstWords,
  kindWords,
  nameOfLetter,
  noSiteWords,
  overbookedWords,
  wasSentBefore,
} from './letters.ts'

/** A draft that was not sent, and the reason. */
export interface Unsent {
  letter: Letter
  outcome: Exclude<ReleaseOutcome['outcome'], 'released'>
}

interface DraftSendProps {
  /** The drafts to send. A draft that has changed since it was read is not sent. */
  drafts: readonly Letter[]
  overview: LettersOverview
  onSent: (unsent: readonly Unsent[]) => void
}

/** A dialog that sends drafts after a confirmation. Above `maxUnconfirmed` letters, the organiser types their number. */
export function DraftSend({ drafts, overview, onSent }: DraftSendProps) {
  return (
    <Dialog
      button={`Send ${countOf(Math.min(drafts.length, maxPerCall), 'letter')}`}
      buttonClass=""
      isOff={drafts.length === 0}
    >
      {(close) => <SendForm {...{ drafts, overview, onSent, close }} />}
    </Dialog>
  )
}

function SendForm({ drafts, overview, onSent, close }: DraftSendProps & { close: () => void }) {
  const { hold_seconds: holdSeconds } = overview.settings
  // The drafts that were ticked when the dialog opened.
  const [draftsToSend] = useState(() => drafts.slice(0, maxPerCall))
  const [sendsAgain, setSendsAgain] = useState(false)
  const [typed, setTyped] = useState('')
  const [isNumberWrong, setIsNumberWrong] = useState(false)
  const sentBeforeCount = draftsToSend.filter(wasSentBefore).length
  const letters = draftsToSend.filter((letter) => sendsAgain || !wasSentBefore(letter))
  const mistyped = letters.filter(isMistyped)
  const failed = letters.filter(({ failed_at: failedAt }) => failedAt)
  const deadline = firstDeadlineOf(letters)
  const acceptances = letters.filter((letter) => letter.occasion === 'accepted' && !wasSentBefore(letter))
  const { data: places } = usePlaces(undefined, acceptances.length > 0)
  const overbooked = places && overbookedWords(places, acceptances.length)
  const isMany = letters.length > maxUnconfirmed
  const isOne = letters.length === 1
  const pronoun = isOne ? 'It' : 'They'
  const send = useDeskAct('desk_release', {
    success(outcomes) {
      const released = outcomes.filter(({ outcome }) => outcome === 'released').length
      const unsent = outcomes.length - released
      return `${countOf(released, 'letter')} on the way${unsent > 0 ? `, ${unsent} not sent` : ''}`
    },
    onSuccess(outcomes) {
      const unsent = outcomes.flatMap(({ id, outcome }): Unsent[] => {
        const letter = letters.find((each) => each.id === id)
        return outcome === 'released' || letter === undefined ? [] : [{ letter, outcome }]
      })
      close()
      onSent(unsent)
    },
  })
  const release = () => {
    const isNumberRight = !isMany || Number(typed) === letters.length
    setIsNumberWrong(!isNumberRight)
    if (!isNumberRight || letters.length === 0) return
    send.press({
      letters: letters.map(({ id, seen }) => ({ id, seen })),
      number: isMany ? Number(typed) : null,
      again: sendsAgain,
    })
  }
  return (
    <DialogForm
      title={`Send ${countOf(letters.length, 'letter')}?`}
      button={`Send ${countOf(letters.length, 'letter')}`}
      act={send}
      close={close}
      isOff={letters.length === 0}
      onSend={release}
    >
      {letters.length > 0 && (
        <p>
          {kindWords(letters)}. To {firstWords(letters.map(nameOfLetter))}.
        </p>
      )}
      {deadline && <p>First RSVP deadline: {dayOf(deadline)}.</p>}
      {overbooked && <p className="layout-notice error">{overbooked}</p>}
      {overview.has_no_site && letters.some(asksForRsvp) && (
        <p className="layout-notice error">{noSiteWords}</p>
      )}
      <p>
        {holdSeconds === 0 && `${pronoun} will be sent at once.`}
        {holdSeconds > 0 &&
          `${pronoun} will be sent in ${holdSeconds === 60 ? 'a minute' : countOf(holdSeconds, 'second')}. Until then you can stop ${isOne ? 'it' : 'them'}.`}
      </p>
      {mistyped.length > 0 && (
        <p className="layout-notice error">
          Letters do not arrive at these mistyped addresses: {firstWords(mistyped.map(({ to }) => to ?? ''))}
        </p>
      )}
      {failed.length > 0 && (
        <p className="layout-notice error">
          Letters to these addresses were not delivered before: {firstWords(failed.map(({ to }) => to ?? ''))}
        </p>
      )}
      {sentBeforeCount > 0 && (
        <Tick isOn={sendsAgain} onTick={setSendsAgain}>
          Send again to people who already have this letter ({sentBeforeCount})
        </Tick>
      )}
      {isMany && (
        <Field
          label={`Type the number of letters, ${letters.length}`}
          inputMode="numeric"
          autoComplete="off"
          value={typed}
          onText={setTyped}
        />
      )}
      {isNumberWrong && <p role="alert">This is not the number of letters. Nothing was sent.</p>}
    </DialogForm>
  )
}

const reasons: Record<Unsent['outcome'], string> = {
  changed: 'it changed since you read it. Please read it again.',
  missing: 'it uses a question they left blank, or asks for an RSVP they can no longer give.',
  long: 'too long once filled in. Shorten it for this person.',
  again: 'they already have this letter.',
  withdrawn: 'they withdrew their application.',
  gone: 'no longer a draft: somebody sent it, removed it or changed the decision.',
}

/** A notice about the drafts that were not sent, with the reasons. */
export function DraftsUnsent({ unsent }: { unsent: readonly Unsent[] }) {
  return unsent.length > 0 && <UnsentNotice unsent={unsent} />
}

function UnsentNotice({ unsent }: { unsent: readonly Unsent[] }) {
  // The letters are from before the sending: blind reading may have been switched on since.
  const { data: reading } = useReading()
  const nameShown = ({ application, name }: Letter) =>
    nameOfLetter({ application, name: reading?.blind === false ? name : null })
  return (
    <div className="layout-notice error" role="alert">
      <p>{countOf(unsent.length, 'letter')} not sent:</p>
      <ul>
        {unsent.map(({ letter, outcome }) => (
          <li key={letter.id}>
            <ApplicationLink id={letter.application}>{nameShown(letter)}</ApplicationLink>: {reasons[outcome]}
          </li>
        ))}
      </ul>
    </div>
  )
}
