import { Link } from 'wouter'

import type { CallDesk, Letter } from '../../../client/desk.ts'
import { announce } from '../announcement.ts'
import { momentOf } from '../dates.ts'
import { focusHeading } from '../focus.ts'
import { sentenceOf } from '../messages.ts'
import { useLetterAct } from './letters.ts'
import { nameOfLetter, nameOfOccasion, received } from './words.ts'

/** One letter that has not left, or that did not arrive. */
export function OutboxLetter({ callDesk, letter }: { callDesk: CallDesk; letter: Letter }) {
  const { id, state, occasion, answer, attempts, due_at: dueAt } = letter
  const name = nameOfLetter(letter)
  const isMail = letter.way === 'mail'
  // Whoever is written to may stand there twice.
  const label = isMail ? name : `${name}, to the automation`
  const stop = useLetterAct(
    (_given: void, signal) => callDesk('desk_withdraw', { letters: [id] }, signal),
    ({ withdrawn }) => {
      focusHeading()
      const stopped = occasion === received ? 'stopped' : 'stopped, and a draft again'
      announce(`${name}: ${withdrawn > 0 ? stopped : 'it had left already'}`)
    },
  )
  const retry = useLetterAct(
    (_given: void, signal) => callDesk('desk_retry', { letters: [id] }, signal),
    ({ retried }) => {
      focusHeading()
      announce(`${name}: ${retried > 0 ? 'is tried again' : 'cannot be tried again any more'}`)
    },
  )
  const problem = stop.error ?? retry.error
  return (
    <li>
      <p className="about-letter">
        <Link href={`/applications/${letter.application}`}>{name}</Link>
        <span>
          {nameOfOccasion(occasion)}
          {!isMail && ', to the automation'}
        </span>
        <span className="quietly">
          {attempts > 0 && `${attempts} ${attempts === 1 ? 'try' : 'tries'}`}
          {state === 'sending' && ' Being handed over.'}
          {state === 'waiting' && dueAt !== null && ` Not before ${momentOf(dueAt)}.`}
        </span>
      </p>
      {state === 'waiting' && (
        <button
          aria-label={`Stop: ${label}`}
          className="quiet"
          onClick={() => !stop.isPending && stop.mutate(undefined)}
        >
          Stop
        </button>
      )}
      {(state === 'refused' || state === 'given up') && (
        <button
          aria-label={`Try again: ${label}`}
          className="quiet"
          onClick={() => !retry.isPending && retry.mutate(undefined)}
        >
          Try again
        </button>
      )}
      {answer !== '' && <p className="said-by-server">{answer}</p>}
      {problem && <p role="alert">{sentenceOf(problem)}</p>}
    </li>
  )
}
