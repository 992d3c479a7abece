import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { mostCharacters } from '../../../application/limits.ts'
import { newAct } from '../../../client/act.ts'
import type { Letter, OutboxState } from '../../../client/desk/letters.ts'
import { announce } from '../kit/announce.tsx'
import { ApplicationLink, Button } from '../kit/Button.tsx'
import { Field, Form } from '../kit/Field.tsx'
import { focusHeading } from '../kit/focus.ts'
import { momentOf } from '../kit/format.ts'
import { Problem } from '../kit/Problem.tsx'
import { Back, MoreButton, Screen } from '../kit/Screen.tsx'
import { useDesk, useDeskAct } from '../kit/useDesk.tsx'
import { useTyped } from '../kit/useTyped.ts'
import { nameOfLetter, nameOfOccasion, received, triesOf } from './letters.ts'
import { UndoSend } from './UndoSend.tsx'

const titles: Record<OutboxState, string> = {
  waiting: 'Letters that are leaving',
  refused: 'Letters that were refused',
  'given up': 'Letters that were given up',
}

/** The letters that did not leave yet, or did not arrive. */
export function OutboxList({ state }: { state: OutboxState }) {
  const query = useInfiniteQuery({
    ...useDesk().outbox(state),
    select: ({ pages }) => pages.flatMap(({ letters }) => letters),
  })
  return (
    <Screen
      title={titles[state]}
      query={query}
      nav={<Back label="In the letters" to={{ screen: 'letters' }} />}
      head={<UndoSend />}
    >
      {(letters) => (
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
      )}
    </Screen>
  )
}

function OutboxLetter({ letter }: { letter: Letter }) {
  const { id, state, occasion, answer, due_at: dueAt } = letter
  const name = nameOfLetter(letter)
  const isMail = letter.way === 'mail'
  // The same person may be listed twice.
  const label = isMail ? name : `${name}, to the automation`
  const { data: overview } = useQuery(useDesk().letters())
  // A receipt has no drafts, and neither has a template that was removed.
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
        <ApplicationLink id={letter.application}>{name}</ApplicationLink>
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
          {letter.attempts > 0 && triesOf(letter)}
          {state === 'sending' && ' Being handed over.'}
          {state === 'waiting' && dueAt !== null && ` Not before ${momentOf(dueAt)}.`}
        </span>
      </p>
      {state === 'waiting' && (
        <Button about={label} onPress={() => stop.press({ letters: [id] })}>
          Stop
        </Button>
      )}
      {answer !== '' && <p className="said-by-server">{answer}</p>}
      {(state === 'refused' || state === 'given up') && <UndeliveredEdit letter={letter} label={label} />}
      <Problem error={stop.error} />
    </li>
  )
}

/**
 * The buttons for a letter that did not arrive: try again, send it to another address, or note that it was told otherwise.
 * The label says whose letter it is, and whether it goes to the automation.
 */
function UndeliveredEdit({ letter, label }: { letter: Letter; label: string }) {
  const letters = [letter.id]
  const [isReaddressing, setIsReaddressing] = useState(false)
  const done = (words: string) => {
    focusHeading()
    announce(`${label}: ${words}`)
  }
  const retry = useDeskAct('desk_retry', ({ retried }) =>
    done(retried > 0 ? 'is tried again' : 'cannot be tried again any more'),
  )
  const settle = useDeskAct('desk_settle', ({ settled }) =>
    done(settled > 0 ? 'told otherwise' : 'is not to be told any more'),
  )
  return (
    <>
      <div className="row">
        <Button about={label} onPress={() => retry.press({ letters })}>
          Try again
        </Button>
        {/* An automation and a receipt use the application's own e-mail alone; whoever reads blind sees no address. */}
        {letter.way === 'mail' && letter.occasion !== received && letter.to !== null && (
          <Button
            about={label}
            aria-expanded={isReaddressing}
            onPress={() => setIsReaddressing(!isReaddressing)}
          >
            Another address
          </Button>
        )}
        <Button about={label} onPress={() => settle.press({ letters })}>
          Told otherwise
        </Button>
      </div>
      {isReaddressing && (
        <Readdress
          letter={letter}
          onDone={(address) => done(`leaves for ${address}`)}
          onClose={() => setIsReaddressing(false)}
        />
      )}
      <Problem error={retry.error ?? settle.error} />
    </>
  )
}

interface ReaddressProps {
  letter: Letter
  onDone: (address: string) => void
  onClose: () => void
}

/** Sends a letter to another address; the answer stays as it was given. */
function Readdress({ letter, onDone, onClose }: ReaddressProps) {
  // The act's id is kept with the address, so that sending again after a reload is the same act.
  const [typed, type] = useTyped<{ act: string; address: string }>(`address ${letter.id}`)
  const { address = letter.to ?? '', act } = typed ?? {}
  const send = useDeskAct('desk_readdress', (_answer, given) => {
    type(null)
    onDone(given.address)
  })
  const cancel = () => {
    type(null)
    onClose()
  }
  return (
    <Form
      className="readdress"
      onSend={() =>
        send.press({ letter: letter.id, address: address.trim(), ...(act !== undefined && { act }) })
      }
    >
      <Field
        label="Address"
        hint="All letters to this applicant go there from now on. The application keeps the e-mail that was given."
        type="email"
        autoComplete="off"
        required
        isFirst
        maxLength={mostCharacters.address}
        value={address}
        onText={(text) => type({ act: newAct(), address: text })}
      />
      <Problem said="Not sent." error={send.error} />
      <div className="row">
        <button>{send.isPending ? 'Sending…' : 'Send there'}</button>
        <Button onPress={cancel}>Cancel</Button>
      </div>
    </Form>
  )
}
