import { useState } from 'react'
import { Link } from 'wouter'

import type { Status } from '../../../application/statuses.ts'
import type { CallDesk, WriteOutcome } from '../../../client/desk.ts'
import { announce } from '../announcement.ts'
import { sentenceOf } from '../messages.ts'
import { useLetterAct, useLetters } from './letters.ts'
import { draftsOf, outboxOf } from './places.ts'
import { isNamed, nameOfOccasion } from './words.ts'

interface WriteLetterProps {
  callDesk: CallDesk
  application: string
  status: Status
}

/** Drafts a letter to one applicant: for the decision that stands, or one that organisers named. */
export function WriteLetter({ callDesk, application, status }: WriteLetterProps) {
  const { data: overview } = useLetters(callDesk)
  const [chosen, setChosen] = useState('')
  const write = useLetterAct(
    (given: { occasion: string; again: boolean }, signal) =>
      callDesk('desk_write', { applications: [application], ...given }, signal),
    ([outcome]) => outcome?.outcome === 'drafted' && announce('Draft made'),
  )
  const occasions = (overview?.templates ?? [])
    .map(({ occasion }) => occasion)
    .filter((occasion) => isNamed(occasion) || occasion === status)
  const occasion = occasions.includes(chosen) ? chosen : occasions[0]
  if (occasion === undefined) return null
  const press = (again: boolean) => {
    if (!write.isPending) write.mutate({ occasion, again })
  }
  // What came of it, for as long as nothing else is chosen.
  const outcome = write.variables?.occasion === occasion ? write.data?.[0] : undefined
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
        {outcome?.state === 'sent' && (
          <button type="button" className="quiet" onClick={() => press(true)}>
            Write again
          </button>
        )}
      </div>
      {outcome && (
        <p>
          {wordsOf(outcome)} {linkTo(outcome, occasion)}
        </p>
      )}
      {write.error && <p role="alert">{sentenceOf(write.error)}</p>}
    </form>
  )
}

function wordsOf({ outcome, state }: WriteOutcome) {
  switch (outcome) {
    case 'drafted':
      return 'A draft is there; nothing has left.'
    case 'undecided':
      return 'Another decision stands meanwhile.'
    case 'gone':
      return 'This application is gone.'
    case 'written':
      return state === null ? '' : stateWords[state]
  }
}

/** How a letter stands that was written before. */
const stateWords: Record<NonNullable<WriteOutcome['state']>, string> = {
  draft: 'There is a draft already.',
  waiting: 'A letter is on its way already.',
  sending: 'A letter is on its way already.',
  sent: 'They were sent this before.',
  refused: 'The mail server refused their letter.',
  'given up': 'Their letter was given up: the mail server did not take it.',
}

/** Where the draft or the letter is. */
function linkTo({ outcome, state }: WriteOutcome, occasion: string) {
  if (outcome === 'drafted' || state === 'draft') return <Link href={draftsOf(occasion)}>Review drafts</Link>
  if (state === 'waiting' || state === 'sending')
    return <Link href={outboxOf('waiting')}>Letters that are leaving</Link>
  if (state === 'refused' || state === 'given up')
    return <Link href={outboxOf(state)}>Send it elsewhere, or settle it</Link>
  return null
}
