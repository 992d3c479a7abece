import { useState } from 'react'
import { Link } from 'wouter'

import type { Status } from '../../../application/statuses.ts'
import type { CallDesk, Letter, WriteOutcome } from '../../../client/desk.ts'
import { announce } from '../announcement.ts'
import { sentenceOf } from '../messages.ts'
import { useLetterAct, useLetters } from './letters.ts'
import { draftsOf } from './places.ts'
import { isNamed, nameOfOccasion } from './words.ts'

interface WriteLetterProps {
  callDesk: CallDesk
  application: string
  status: Status
  letters: readonly Letter[]
}

/** Drafts a letter to one applicant: for the decision that stands, or one that organisers named. */
export function WriteLetter({ callDesk, application, status, letters }: WriteLetterProps) {
  const { data: standing } = useLetters(callDesk)
  const [chosen, setChosen] = useState('')
  const write = useLetterAct(
    (given: { occasion: string; again: boolean }, signal) =>
      callDesk('desk_write', { applications: [application], ...given }, signal),
    ([outcome]) => outcome?.outcome === 'drafted' && announce('Draft made'),
  )
  const occasions = (standing?.templates ?? [])
    .map(({ occasion }) => occasion)
    .filter((occasion) => isNamed(occasion) || occasion === status)
  const occasion = occasions.includes(chosen) ? chosen : occasions[0]
  if (occasion === undefined) return null
  const press = (again: boolean) => {
    if (!write.isPending) write.mutate({ occasion, again })
  }
  // What came of it, for as long as nothing else is chosen.
  const outcome = write.variables?.occasion === occasion ? write.data?.[0]?.outcome : undefined
  const isAgain =
    outcome === 'written' && !letters.some((each) => each.occasion === occasion && isOnTheWay(each))
  return (
    <form
      className="write"
      onSubmit={(event) => {
        event.preventDefault()
        press(false)
      }}
    >
      <label htmlFor="occasion">Letter</label>
      <div className="row">
        <select id="occasion" value={occasion} onChange={({ target }) => setChosen(target.value)}>
          {occasions.map((each) => (
            <option key={each} value={each}>
              {nameOfOccasion(each)}
            </option>
          ))}
        </select>
        <button className="quiet">Write</button>
        {isAgain && (
          <button type="button" className="quiet" onClick={() => press(true)}>
            Write again
          </button>
        )}
      </div>
      {outcome && (
        <p>
          {isAgain ? 'They were sent this before.' : words[outcome]}{' '}
          {(outcome === 'drafted' || outcome === 'written') && !isAgain && (
            <Link href={draftsOf(occasion)}>Review drafts</Link>
          )}
        </p>
      )}
      {write.error && <p role="alert">{sentenceOf(write.error)}</p>}
    </form>
  )
}

const words: Record<WriteOutcome['outcome'], string> = {
  drafted: 'A draft is there; nothing has left.',
  written: 'There is a draft or a letter on its way already.',
  undecided: 'Another decision stands meanwhile.',
  gone: 'This application is gone.',
}

/** Whether a letter stands in the way of another one of its occasion. */
function isOnTheWay({ state }: Letter) {
  return state !== 'sent' && state !== 'withdrawn'
}
