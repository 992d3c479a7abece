import { useRef } from 'react'

import { maxCharacters } from '../../../application/limits.ts'
import type { CopiedParts, Edition } from '../../../client/desk/editions.ts'
import { ActProblems } from '../kit/ActProblems.tsx'
import { Button } from '../kit/Button.tsx'
import { Confirmation, Dialog } from '../kit/Dialog.tsx'
import { Field } from '../kit/Field.tsx'
import { Tick } from '../kit/Tick.tsx'
import { go } from '../data/route.ts'
import { Sheet } from '../kit/Screen.tsx'
import { useDeskAct } from '../data/useDeskAct.ts'
import { useUnsentText } from '../data/useUnsentText.ts'
import { DaysFields } from './DaysFields.tsx'
import { nameOfEdition } from './editions.ts'

interface EnteredEdition {
  name: string
  start: string
  end: string
  copied: CopiedParts
  /** The number of the newest retreat when the first value was entered. */
  newest: number
}

const parts: [keyof CopiedParts, string][] = [
  ['templates', 'Copy the templates'],
  ['questions', 'Copy the questions'],
  ['places', 'Copy the number of places and the days to answer'],
]

const blank: Omit<EnteredEdition, 'newest'> = {
  name: '',
  start: '',
  end: '',
  copied: { templates: true, questions: true, places: true },
}

/** The name of the form's input in `useUnsentText`. */
const editionTextName = 'retreat to begin'

/** The form that begins the next retreat. */
export function EditionCreate({ newest }: { newest: Edition }) {
  const [typed, setTyped] = useUnsentText<EnteredEdition>(editionTextName)
  const entered = typed ?? blank
  const { start, end, copied } = entered
  const name = entered.name.trim()
  const enter = (change: Partial<EnteredEdition>) => setTyped({ newest: newest.id, ...entered, ...change })
  const form = useRef<HTMLFormElement>(null)
  const begin = useDeskAct('desk_begin_edition', {
    success: (_places, args) => `${args.name} has begun. Applications from now on belong to it.`,
    text: editionTextName,
    onSuccess() {
      go({ screen: 'retreat' })
    },
  })
  const send = () =>
    typed !== null &&
    begin.press({
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
            You can still read, search and download <bdi>{former}</bdi>. Its letters and RSVP links go on
            working. Links to withdraw end.
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
          <Dialog
            button="Begin retreat"
            isPending={begin.isPending}
            onOpen={() => form.current?.reportValidity()}
          >
            {(close) => (
              <Confirmation
                title={
                  <>
                    Begin <bdi>{name}</bdi>?
                  </>
                }
                close={close}
                closeWords="Not yet"
                confirm="Begin now"
                onConfirm={send}
              >
                <p>It begins at once, and cannot be undone.</p>
              </Confirmation>
            )}
          </Dialog>
          {isOvertaken && <Button onPress={discard}>Discard</Button>}
        </div>
        <ActProblems acts={[begin]} />
      </form>
    </Sheet>
  )
}
