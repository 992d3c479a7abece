import { useInfiniteQuery, useQuery } from '@tanstack/react-query'

import type { Letter, OutboxState } from '../../../client/desk/letters.ts'
import { ApplicationLink, Back } from '../data/links.tsx'
import { Button } from '../kit/Button.tsx'
import { countOf, momentOf } from '../kit/format.ts'
import { ActProblems } from '../kit/ActProblems.tsx'
import { MoreButton } from '../kit/MoreButton.tsx'
import { Screen } from '../kit/Screen.tsx'
import { useDesk } from '../data/useDesk.tsx'
import { useDeskAct } from '../data/useDeskAct.ts'
import { isFailed, nameOfLetter, nameOfOccasion, receipt, triesOf } from './letters.ts'
import { outboxPages } from './letter-pages.ts'
import { UndeliveredEdit } from './UndeliveredEdit.tsx'
import { UndoSend } from './UndoSend.tsx'

const titles: Record<OutboxState, string> = {
  waiting: 'Letters on the way',
  refused: 'Refused letters',
  'given up': 'Undelivered letters',
}

/** The screen of letters that were not sent yet or could not be delivered. */
export function OutboxList({ state }: { state: OutboxState }) {
  const query = useInfiniteQuery({
    ...outboxPages(useDesk(), state),
    select: ({ pages }) => ({
      letters: pages.flatMap(({ letters }) => letters),
      retriable: pages[0]?.retriable ?? [],
    }),
  })
  return (
    <Screen
      title={titles[state]}
      query={query}
      nav={<Back label="In the letters" to={{ screen: 'letters' }} />}
      head={<UndoSend />}
    >
      {({ letters, retriable }) => (
        <>
          {retriable.length > 1 && <RetryAll letters={retriable} />}
          {letters.length === 0 && <p>No letters here.</p>}
          {letters.length > 0 && (
            <ul className="layout-lines layout-sheet letters-outbox">
              {letters.map((letter) => (
                <OutboxLetter key={letter.id} letter={letter} />
              ))}
            </ul>
          )}
          <MoreButton query={query} />
        </>
      )}
    </Screen>
  )
}

/** The button that tries all failed letters again. */
function RetryAll({ letters }: { letters: string[] }) {
  const retry = useDeskAct('desk_retry', {
    success: ({ retried }) => `${countOf(retried, 'letter')} will be retried.`,
  })
  return (
    <>
      <Button isPending={retry.isPending} onPress={() => retry.press({ letters })}>
        {`Try all ${letters.length} again`}
      </Button>
      <ActProblems acts={[retry]} />
    </>
  )
}

function OutboxLetter({ letter }: { letter: Letter }) {
  const { id, state, occasion, answer, due_at: dueAt } = letter
  const name = nameOfLetter(letter)
  const isMail = letter.way === 'mail'
  // The same person may be listed twice: for an email and for the automation.
  const label = isMail ? name : `${name}, to the automation`
  const { data: overview } = useQuery(useDesk().letters())
  // A stopped letter becomes a draft again, except a receipt or a letter of a removed template.
  const becomesDraft =
    occasion === '' ||
    (occasion !== receipt && overview?.templates.some((each) => each.occasion === occasion))
  const stoppedWords = becomesDraft ? 'stopped, and a draft again' : 'stopped'
  const stop = useDeskAct('desk_withdraw', {
    success: ({ withdrawn }) => `${name}: ${withdrawn > 0 ? stoppedWords : 'already sent'}`,
  })
  return (
    <li>
      <p className="letters-about">
        {/* In a span, the padding of the link does not make the line higher. */}
        <span>
          <ApplicationLink id={letter.application}>{name}</ApplicationLink>
        </span>
        <span>
          {nameOfOccasion(occasion)}
          {!isMail && ', to the automation'}
        </span>
        {isMail && letter.to !== null && (
          <span className="layout-quiet">
            To <bdi>{letter.to}</bdi>
          </span>
        )}
        <span className="layout-quiet">
          {letter.attempts > 0 && triesOf(letter)}
          {state === 'sending' && ' Being sent.'}
          {state === 'waiting' && dueAt !== null && ` Will be sent after ${momentOf(dueAt)}.`}
        </span>
      </p>
      {state === 'waiting' && (
        <Button about={label} isPending={stop.isPending} onPress={() => stop.press({ letters: [id] })}>
          Stop
        </Button>
      )}
      {answer !== '' && <p className="letters-reply">{answer}</p>}
      {isFailed(letter) && <UndeliveredEdit letter={letter} label={label} />}
      <ActProblems acts={[stop]} />
    </li>
  )
}
