import { Link } from 'wouter'

import type { CallDesk, Letter } from '../../../client/desk.ts'
import { announce } from '../announcement.ts'
import { momentOf } from '../dates.ts'
import { focusHeading } from '../focus.ts'
import { sentenceOf } from '../messages.ts'
import { useLetterAct, useLetters } from './letters.ts'
import { Undelivered } from './Undelivered.tsx'
import { nameOfLetter, nameOfOccasion, received } from './words.ts'

/** One letter that has not left, or that did not arrive. */
export function OutboxLetter({ callDesk, letter }: { callDesk: CallDesk; letter: Letter }) {
  const { id, state, occasion, answer, attempts, due_at: dueAt } = letter
  const name = nameOfLetter(letter)
  const isMail = letter.way === 'mail'
  // Whoever is written to may stand there twice.
  const label = isMail ? name : `${name}, to the automation`
  const { data: overview } = useLetters(callDesk)
  // Of a receipt there are no drafts, nor of a template that was removed.
  const hasDrafts = occasion !== received && overview?.templates.some((each) => each.occasion === occasion)
  const stop = useLetterAct(
    (_given: void, signal) => callDesk('desk_withdraw', { letters: [id] }, signal),
    ({ withdrawn }) => {
      focusHeading()
      const stopped = hasDrafts ? 'stopped, and a draft again' : 'stopped'
      announce(`${name}: ${withdrawn > 0 ? stopped : 'it had left already'}`)
    },
  )
  return (
    <li>
      <p className="about-letter">
        <Link href={`/applications/${letter.application}`}>
          <bdi>{name}</bdi>
        </Link>
        <span>
          {nameOfOccasion(occasion)}
          {!isMail && ', to the automation'}
        </span>
        {isMail && letter.to !== null && (
          <span className="quietly">
            To <bdi>{letter.to}</bdi>
          </span>
        )}
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
      {answer !== '' && <p className="said-by-server">{answer}</p>}
      {(state === 'refused' || state === 'given up') && (
        <Undelivered callDesk={callDesk} letter={letter} label={label} />
      )}
      {stop.error && <p role="alert">{sentenceOf(stop.error)}</p>}
    </li>
  )
}
