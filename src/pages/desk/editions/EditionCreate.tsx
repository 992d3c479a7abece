import { useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'

import { maxCharacters } from '../../../application/limits.ts'
import { newActId } from '../../../client/act.ts'
import type { CopiedParts, Edition } from '../../../client/desk/editions.ts'
import { ActProblems } from '../kit/ActProblems.tsx'
import { Button } from '../kit/Button.tsx'
import { ConfirmButton } from '../kit/ConfirmButton.tsx'
import { Field, Tick } from '../kit/Field.tsx'
import { focusHeading } from '../kit/focus.ts'
import { go } from '../data/route.ts'
import { Sheet } from '../kit/Screen.tsx'
import { useDecisionQueue, useDesk } from '../data/useDesk.tsx'
import { useDeskAct } from '../data/useDeskAct.ts'
import { useUnsentText } from '../data/useUnsentText.ts'
import { DaysFields } from './DaysFields.tsx'
import { nameOfEdition } from './editions.ts'

interface EnteredEdition {
  name: string
  start: string
  end: string
  copied: CopiedParts
  /** The act of these values, and the number of the newest retreat when the first was entered. */
  act: string
  newest: number
}

const parts: [keyof CopiedParts, string][] = [
  ['templates', 'Copy the templates'],
  ['questions', 'Copy the questions'],
  ['places', 'Copy the number of places and the days to answer'],
]

const blank: Omit<EnteredEdition, 'act' | 'newest'> = {
  name: '',
  start: '',
  end: '',
  copied: { templates: true, questions: true, places: true },
}

/** The form that begins the next retreat. */
export function EditionCreate({ newest }: { newest: Edition }) {
  const [typed, setTyped] = useUnsentText<EnteredEdition>('retreat to begin')
  const entered = typed ?? blank
  const { start, end, copied } = entered
  const name = entered.name.trim()
  // A retry after a lost response is the same act, so it begins no second retreat.
  const enter = (change: Partial<EnteredEdition>) =>
    setTyped({ newest: newest.id, ...entered, ...change, act: newActId() })
  const form = useRef<HTMLFormElement>(null)
  const queries = useQueryClient()
  const { places: placesOf } = useDesk()
  const { queue } = useDecisionQueue()
  const begin = useDeskAct('desk_begin_edition', {
    success: (_places, args) => `${args.name} has begun. Applications from now on belong to it.`,
    failure: 'Not begun.',
    onSuccess(places) {
      setTyped(null)
      // Otherwise Undo would offer a decision about the former retreat. While a decision is being sent, nothing is forgotten.
      if (!queue.isWaiting()) queue.forget()
      queries.setQueryData(placesOf().queryKey, places)
      // The lists and positions of the former retreat must not appear for a moment.
      for (const subject of ['list', 'opened', 'junk']) queries.removeQueries({ queryKey: [subject] })
      go({ screen: 'retreat' })
    },
  })
  const send = () =>
    typed !== null &&
    begin.press({
      act: typed.act,
      newest: typed.newest,
      name,
      starts_on: start === '' ? null : start,
      ends_on: end === '' ? null : end,
      copied,
    })
  const former = nameOfEdition(newest)
  const isOvertaken = typed !== null && typed.newest !== newest.id && !begin.isPending
  const discard = () => {
    begin.cancel()
    setTyped(null)
    // The pressed button disappears.
    focusHeading()
  }
  return (
    <Sheet title="Begin the next retreat">
      <form ref={form} onSubmit={(event) => event.preventDefault()}>
        <ul className="edition-effects">
          <li>
            It begins at once: applications from now on belong to it. Its venue and the other days are set
            afterwards, under Days and places.
          </li>
          <li>
            You can still read, search and download <bdi>{former}</bdi>. Its letters and links go on working.
          </li>
          <li>The door stays open or closed as it is, and counts from now on.</li>
          <li>
            Copied templates keep their words. Their placeholders name the new retreat, its days and its
            venue.
          </li>
          <li>
            The page keeps its words, except for when applicants hear back. Read them under Page afterwards.
          </li>
          <li>It cannot be undone.</li>
        </ul>
        <Field
          label="Name"
          hint="Such as “Spring 2028”."
          autoComplete="off"
          required
          // A name of spaces would be blank.
          pattern=".*\S.*"
          maxLength={maxCharacters.edition}
          value={entered.name}
          onText={(text) => enter({ name: text })}
        />
        <DaysFields {...{ start, end }} onDays={enter} />
        <fieldset className="edition-copied">
          <legend>
            From <bdi>{former}</bdi>
          </legend>
          {parts.map(([part, label]) => (
            <Tick
              key={part}
              isOn={copied[part]}
              onTick={(isOn) => enter({ copied: { ...copied, [part]: isOn } })}
            >
              {label}
            </Tick>
          ))}
        </fieldset>
        <p aria-live="polite" className="edition-warning">
          {!copied.templates &&
            'All templates begin again with their first texts. Your own templates are removed, unless there are drafts of them.'}
        </p>
        {isOvertaken && (
          <p className="layout-notice error" role="alert">
            <bdi>{former}</bdi> has begun meanwhile. Discard this before you begin another retreat.
          </p>
        )}
        <div className="layout-row">
          <ConfirmButton
            question={
              <>
                Begin <bdi>{name}</bdi>?
              </>
            }
            confirm="Begin now"
            cancel="Not yet"
            isPending={begin.isPending}
            mayAsk={() => form.current?.reportValidity() === true}
            onConfirm={send}
          >
            Begin retreat
          </ConfirmButton>
          {isOvertaken && <Button onPress={discard}>Discard</Button>}
        </div>
        <ActProblems acts={[begin]} />
      </form>
    </Sheet>
  )
}
