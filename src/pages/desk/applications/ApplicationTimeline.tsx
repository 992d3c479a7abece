import type { ReactNode } from 'react'

import { answerStates, statuses } from '../../../application/statuses.ts'
import type { Delivery, Happening, Whole } from '../../../client/desk/applications.ts'
import type { Letter } from '../../../client/desk/letters.ts'
import { dayOf, momentOf } from '../kit/format.ts'
import { LongText } from '../kit/LongText.tsx'
import { useMedia } from '../kit/listen.ts'
import { eventsOf, nameOfOccasion, wordsOfLetter } from '../letters/letters.ts'
import { LetterText } from '../letters/LetterText.tsx'

/** Something that stands in the timeline. */
export interface Event {
  key: string
  at: string
  author: string | null
  text: ReactNode
}

/** What happened to an application, the oldest first. */
export function timelineOf({ application, delivery, history }: Whole, letters: readonly Letter[]): Event[] {
  return [
    { key: 'received', at: application.created_at, author: null, text: 'Received' },
    ...(delivery?.delivered_at
      ? [
          {
            key: 'delivered',
            at: delivery.delivered_at,
            author: null,
            text: 'Passed on to the connected system (webhook)',
          },
        ]
      : []),
    ...history.map((happening) => ({
      key: happening.act,
      at: happening.at,
      author: happening.author === 'applicant' ? 'the applicant' : happening.author,
      text: textOf(happening),
    })),
    ...eventsOf(letters).map((event) => ({ ...event, text: <LetterEvent event={event} /> })),
  ].toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at))
}

interface ApplicationTimelineProps {
  whole: Whole
  letters: readonly Letter[]
  /** The keys of events that came while it was shown. */
  fresh: ReadonlySet<string>
}

/** Everything that happened to an application, and the state of what did not arrive. */
export function ApplicationTimeline({ whole, letters, fresh }: ApplicationTimelineProps) {
  const { delivery } = whole
  return (
    <>
      <ol className="timeline">
        {timelineOf(whole, letters).map(({ key, at, author, text }) => (
          <li key={key} className={fresh.has(key) ? 'fresh' : undefined}>
            <p className="quietly">
              <time dateTime={at}>{momentOf(at)}</time>
              {author !== null && `, ${author}`}
              {fresh.has(key) && ', new since you looked'}
            </p>
            {text}
          </li>
        ))}
      </ol>
      {letters
        .map((letter) => ({ id: letter.id, words: wordsOfLetter(letter) }))
        .filter(({ words }) => words !== '')
        .map(({ id, words }) => (
          <p key={id} className="quietly letter-standing">
            {words}
          </p>
        ))}
      {delivery && !delivery.delivered_at && <p className="quietly">{waiting(delivery)}</p>}
    </>
  )
}

/** What happened to a letter. It unfolds the letter's text, unless that is hidden from whoever reads blind. */
function LetterEvent({ event: { text, letter } }: { event: ReturnType<typeof eventsOf>[number] }) {
  const isPrinting = useMedia('print')
  if (letter === undefined || letter.name === null) return <p>{text}</p>
  return (
    <details open={isPrinting}>
      <summary>{text}</summary>
      <LetterText text={letter} />
    </details>
  )
}

function textOf(happening: Happening): ReactNode {
  switch (happening.kind) {
    case 'status':
      return (
        <p>
          {statuses[happening.detail.status]}{' '}
          <span className="quietly">(was {statuses[happening.detail.former]})</span>
        </p>
      )
    case 'note':
      return (
        <p className="note">
          <LongText text={happening.detail.note} />
        </p>
      )
    case 'revealed':
      return <p>Revealed name, e-mail, phone, LinkedIn and company</p>
    case 'address':
      return <p>Letters go to {happening.detail.address ?? 'another address'} from now on</p>
    case 'told':
      return (
        <p>
          {happening.detail.way === 'mail' ? 'Letter ' : 'To the automation: '}“
          {nameOfOccasion(happening.detail.occasion)}” told otherwise
        </p>
      )
    case 'answer': {
      const { answer } = happening.detail
      return <p>Answer: {answer === null ? 'none' : answerStates[answer]}</p>
    }
    case 'kept':
      return <p>Place kept until {dayOf(happening.detail.until)}</p>
    case 'link':
      return <p>Their link was put into the letter “{nameOfOccasion(happening.detail.occasion)}” by hand</p>
  }
}

function waiting({ attempts, last_status, next_attempt_at }: Delivery) {
  const tries = `${attempts} ${attempts === 1 ? 'try' : 'tries'}`
  const answer = last_status === null ? 'no answer' : `the answer ${last_status}`
  if (next_attempt_at === null)
    return `Not passed on to the connected system (webhook): given up after ${tries}, the last with ${answer}.`
  if (attempts === 0) return 'Not yet passed on to a connected system (webhook).'
  return `Not yet passed on to the connected system (webhook): ${tries}, the last with ${answer}.`
}
