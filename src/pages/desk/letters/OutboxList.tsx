import { useInfiniteQuery, useQuery } from '@tanstack/react-query'

import type { Letter, OutboxState } from '../../../client/desk.ts'
import { announce } from '../kit/announce.tsx'
import { focusHeading } from '../kit/focus.ts'
import { momentOf } from '../kit/format.ts'
import { applicationOf } from '../kit/places.ts'
import { Problem } from '../kit/Problem.tsx'
import { Back, MoreButton, Screen } from '../kit/Screen.tsx'
import { useDesk, useDeskAct } from '../kit/useDesk.tsx'
import { nameOfLetter, nameOfOccasion, received } from './letters.ts'
import { UndeliveredEdit } from './UndeliveredEdit.tsx'
import { UndoSend } from './UndoSend.tsx'

const titles: Record<OutboxState, string> = {
  waiting: 'Letters that are leaving',
  refused: 'Letters that were refused',
  'given up': 'Letters that were given up',
}

/** The letters that did not leave yet, or did not arrive. */
export function OutboxList({ state }: { state: OutboxState }) {
  const query = useInfiniteQuery(useDesk().outbox(state))
  return (
    <Screen
      title={titles[state]}
      query={query}
      nav={<Back label="In the letters" to={{ screen: 'letters' }} />}
      head={<UndoSend />}
    >
      {({ pages }) => {
        const letters = pages.flatMap((page) => page.letters)
        return (
          <>
            {letters.length === 0 && <p>No letters here.</p>}
            {letters.length > 0 && (
              <ul className="plain sheet outbox">
                {letters.map((letter) => (
                  <OutboxLetter key={letter.id} letter={letter} />
                ))}
              </ul>
            )}
            <MoreButton query={query} />
          </>
        )
      }}
    </Screen>
  )
}

function OutboxLetter({ letter }: { letter: Letter }) {
  const { id, state, occasion, answer, attempts, due_at: dueAt } = letter
  const name = nameOfLetter(letter)
  const isMail = letter.way === 'mail'
  // Whoever is written to may stand there twice.
  const label = isMail ? name : `${name}, to the automation`
  const { data: overview } = useQuery(useDesk().letters())
  // Of a receipt there are no drafts, nor of a template that was removed.
  const hasDrafts =
    occasion === '' ||
    (occasion !== received && overview?.templates.some((each) => each.occasion === occasion))
  const stop = useDeskAct('desk_withdraw', ({ withdrawn }) => {
    focusHeading()
    const stopped = hasDrafts ? 'stopped, and a draft again' : 'stopped'
    announce(`${name}: ${withdrawn > 0 ? stopped : 'it had left already'}`)
  })
  return (
    <li>
      <p className="about-letter">
        <a href={applicationOf(letter.application)}>
          <bdi>{name}</bdi>
        </a>
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
        <button aria-label={`Stop: ${label}`} className="quiet" onClick={() => stop.press({ letters: [id] })}>
          Stop
        </button>
      )}
      {answer !== '' && <p className="said-by-server">{answer}</p>}
      {(state === 'refused' || state === 'given up') && <UndeliveredEdit letter={letter} label={label} />}
      <Problem error={stop.error} />
    </li>
  )
}
