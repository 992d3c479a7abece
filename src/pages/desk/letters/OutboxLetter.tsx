import { Link } from 'wouter'

import type { CallDesk, Letter } from '../../../client/desk.ts'
import { announce } from '../announcement.ts'
import { momentOf } from '../dates.ts'
import { focusHeading } from '../focus.ts'
import { sentenceOf } from '../messages.ts'
import { useLetterAct } from './letters.ts'
import { nameOfLetter, nameOfOccasion } from './words.ts'

/** One letter that has not left, or that did not arrive. */
export function OutboxLetter({ callDesk, letter }: { callDesk: CallDesk; letter: Letter }) {
  const { id, state, occasion, answer, attempts, due_at: dueAt } = letter
  const name = nameOfLetter(letter)
  const stop = useLetterAct(
    () => callDesk('desk_withdraw', { letters: [id] }),
    ({ withdrawn }) => {
      focusHeading()
      announce(withdrawn > 0 ? `${name}: stopped, and a draft again` : `${name}: it had left already`)
    },
  )
  const retry = useLetterAct(
    () => callDesk('desk_retry', { letters: [id] }),
    () => {
      focusHeading()
      announce(`${name}: is tried again`)
    },
  )
  const problem = stop.error ?? retry.error
  return (
    <li>
      <p className="about-letter">
        <Link href={`/applications/${letter.application}`}>{name}</Link>
        <span>{nameOfOccasion(occasion)}</span>
        <span className="quietly">
          {attempts > 0 && `${attempts} ${attempts === 1 ? 'try' : 'tries'}`}
          {state === 'sending' && ' Being handed over.'}
          {state === 'waiting' && dueAt !== null && ` Not before ${momentOf(dueAt)}.`}
        </span>
      </p>
      {state === 'waiting' && (
        <button
          aria-label={`Stop: ${name}`}
          className="quiet"
          onClick={() => !stop.isPending && stop.mutate(undefined)}
        >
          Stop
        </button>
      )}
      {(state === 'refused' || state === 'given up') && (
        <button
          aria-label={`Try again: ${name}`}
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
