import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'

import { maxCharacters } from '../../../application/limits.ts'
import type { Letter, OutboxState } from '../../../client/desk/letters.ts'
import { ApplicationLink, Back } from '../data/links.tsx'
import { Button } from '../kit/Button.tsx'
import { Field, Form } from '../kit/Field.tsx'
import { useOnHidden } from '../kit/focus.ts'
import { countOf, momentOf } from '../kit/format.ts'
import { ActProblems } from '../kit/ActProblems.tsx'
import { MoreButton } from '../kit/MoreButton.tsx'
import { Screen } from '../kit/Screen.tsx'
import { useDesk } from '../data/useDesk.tsx'
import { useDeskAct } from '../data/useDeskAct.ts'
import { useUnsentText } from '../data/useUnsentText.ts'
import { nameOfLetter, nameOfOccasion, receipt, triesOf } from './letters.ts'
import { outboxPages } from './letter-pages.ts'
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
          {state === 'waiting' && dueAt !== null && ` Sent after ${momentOf(dueAt)}.`}
        </span>
      </p>
      {state === 'waiting' && (
        <Button about={label} isPending={stop.isPending} onPress={() => stop.press({ letters: [id] })}>
          Stop
        </Button>
      )}
      {answer !== '' && <p className="letters-reply">{answer}</p>}
      {(state === 'refused' || state === 'given up') && <UndeliveredEdit letter={letter} label={label} />}
      <ActProblems acts={[stop]} />
    </li>
  )
}

/**
 * The buttons for an undelivered letter: retry, send to another address, or note that the applicant was contacted another way.
 * The label names the applicant, and the automation if the letter is sent to it.
 */
function UndeliveredEdit({ letter, label }: { letter: Letter; label: string }) {
  const letters = [letter.id]
  const [isReaddressing, setIsReaddressing] = useState(false)
  const readdressButton = useRef<HTMLButtonElement>(null)
  useOnHidden(isReaddressing, () => readdressButton.current?.focus())
  const retry = useDeskAct('desk_retry', {
    success: ({ retried }) => `${label}: ${retried > 0 ? 'will be retried' : 'can no longer be retried'}`,
  })
  const settle = useDeskAct('desk_settle', {
    success: ({ settled }) =>
      `${label}: ${settled > 0 ? 'contacted another way' : 'no longer needs to be told'}`,
  })
  return (
    <>
      <div className="layout-row">
        <Button about={label} isPending={retry.isPending} onPress={() => retry.press({ letters })}>
          Try again
        </Button>
        {/* Automations and receipts use only the applicant's own email. Blind readers see no address. */}
        {letter.way === 'mail' && letter.occasion !== receipt && letter.to !== null && (
          <Button
            ref={readdressButton}
            about={label}
            aria-expanded={isReaddressing}
            onPress={() => setIsReaddressing(!isReaddressing)}
          >
            Send to another address
          </Button>
        )}
        <Button about={label} isPending={settle.isPending} onPress={() => settle.press({ letters })}>
          I told them another way
        </Button>
      </div>
      {isReaddressing && letter.to !== null && (
        <Readdress {...{ letter, label }} onClose={() => setIsReaddressing(false)} />
      )}
      <ActProblems acts={[retry, settle]} />
    </>
  )
}

interface ReaddressProps {
  letter: Letter
  label: string
  onClose: () => void
}

/** Sends a letter to another address. The email in the application does not change. */
function Readdress({ letter, label, onClose }: ReaddressProps) {
  const textName = `address ${letter.id}`
  const [typed, setUnsent] = useUnsentText<{ address: string }>(textName)
  const { address = letter.to ?? '' } = typed ?? {}
  const send = useDeskAct('desk_readdress', {
    success: (_letter, args) => `${label}: on the way to ${args.address}`,
    text: textName,
  })
  const cancel = () => {
    setUnsent(null)
    onClose()
  }
  return (
    <Form
      className="letters-readdress"
      onSend={() => send.press({ letter: letter.id, address: address.trim() })}
    >
      <Field
        label="Address"
        hint="From now on, all letters to this applicant go there. The email in the application does not change."
        type="email"
        autoComplete="off"
        required
        takesFocus
        maxLength={maxCharacters.address}
        value={address}
        onText={(text) => setUnsent({ address: text })}
      />
      <ActProblems acts={[send]} />
      <div className="layout-row">
        <Button isPending={send.isPending}>Send there</Button>
        <Button onPress={cancel}>Cancel</Button>
      </div>
    </Form>
  )
}
