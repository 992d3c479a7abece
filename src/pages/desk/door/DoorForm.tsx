import type { ReactNode, SyntheticEvent } from 'react'

import { closedSentence, mostCharacters } from '../../../application/limits.ts'
import type { CallDesk, Door } from '../../../client/desk.ts'
import { momentOf, zone } from '../dates.ts'
import { sentenceOf } from '../messages.ts'
import { useTyped } from '../typed.ts'
import { ChangedMeanwhile, useSaveDoor, type DoorState } from './door.ts'
import { entriesOf, localTimeOf, type Entries } from './entries.ts'
import { doorSentence } from './door-words.ts'

/** What was entered, and the version of the door that it was entered over. */
interface Draft {
  entries: Entries
  over: number
}

interface DoorFormProps {
  callDesk: CallDesk
  door: DoorState
  /** When that was so, in milliseconds: no door closes at a time that was over then. */
  now: number
}

/** Opens and closes the door. Until something is entered, the fields follow how it stands. */
export function DoorForm({ callDesk, door, now }: DoorFormProps) {
  const [typed, setDraft] = useTyped<Draft>('door')
  // Of what was being saved when the screen was left nobody was told that it was.
  const isSaved = JSON.stringify(typed?.entries) === JSON.stringify(entriesOf(door))
  const draft = isSaved ? null : typed
  const save = useSaveDoor(callDesk, ({ version }, entered) =>
    // What was entered while it was being saved is kept.
    setDraft((latest) =>
      latest === null || latest.entries === entered ? null : { ...latest, over: version },
    ),
  )
  const entries = draft?.entries ?? entriesOf(door)
  const isStale = draft !== null && !save.isPending && draft.over !== door.version

  const enter = (change: Partial<Entries>) =>
    setDraft({ entries: { ...entries, ...change }, over: draft?.over ?? door.version })
  const onSubmit = (event: SyntheticEvent) => {
    event.preventDefault()
    if (save.isPending) return
    // How it stands now has been seen.
    setDraft({ entries, over: door.version })
    save.mutate({ entries, shown: door })
  }

  return (
    <form onSubmit={onSubmit}>
      <fieldset className="choices">
        <legend>The door is</legend>
        <div className="row">
          <Choice name="Open" isChosen={!entries.closed} onChoose={() => enter({ closed: false })} />
          <Choice name="Closed" isChosen={entries.closed} onChoose={() => enter({ closed: true })} />
        </div>
      </fieldset>
      <Field id="sentence" label="Sentence for applicants" hint={<SentenceHint />}>
        <textarea
          id="sentence"
          aria-describedby="sentence-hint"
          rows={2}
          maxLength={mostCharacters.sentence}
          value={entries.sentence}
          onChange={(event) => enter({ sentence: event.target.value })}
        />
      </Field>
      {!entries.closed && (
        <div className="conditions">
          <Field
            id="closes-at"
            label="Close at"
            hint={`In your own time zone, ${zone.replaceAll('_', ' ')}.`}
          >
            <input
              id="closes-at"
              aria-describedby="closes-at-hint"
              type="datetime-local"
              min={localTimeOf(now)}
              max="9999-12-31T23:59"
              value={entries.closesAt}
              onChange={(event) => enter({ closesAt: event.target.value })}
            />
          </Field>
          <Field id="closes-after" label="Close after so many applications" hint={<CountHint door={door} />}>
            <input
              id="closes-after"
              aria-describedby="closes-after-hint"
              type="number"
              inputMode="numeric"
              min={1}
              max={2_147_483_647}
              value={entries.closesAfter}
              onChange={(event) => enter({ closesAfter: event.target.value })}
            />
          </Field>
        </div>
      )}
      {isStale && <Meanwhile door={door} over={draft.over} />}
      {save.error && !(save.error instanceof ChangedMeanwhile) && (
        <p className="notice error" role="alert">
          Not saved. {sentenceOf(save.error)}
        </p>
      )}
      <div className="row">
        <button>{save.isPending ? 'Saving…' : isStale ? 'Save anyway' : 'Save'}</button>
        {draft && !save.isPending && (
          <button type="button" className="quiet" onClick={() => setDraft(null)}>
            Discard
          </button>
        )}
      </div>
    </form>
  )
}

function Choice({ name, isChosen, onChoose }: { name: string; isChosen: boolean; onChoose: () => void }) {
  return (
    <label className="choice">
      <input type="radio" name="door" checked={isChosen} onChange={onChoose} />
      {name}
    </label>
  )
}

function Field({
  id,
  label,
  hint,
  children,
}: {
  id: string
  label: string
  hint: ReactNode
  children: ReactNode
}) {
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children}
      <p className="hint" id={`${id}-hint`}>
        {hint}
      </p>
    </div>
  )
}

function SentenceHint() {
  return (
    <>
      What they read while it is closed, at most {mostCharacters.sentence} characters. Left blank: “
      {closedSentence}”
    </>
  )
}

/** A door that is open counts what came already. */
function CountHint({ door: { is_open: isOpen, opened_at: openedAt } }: { door: Door }) {
  const since =
    openedAt === null ? 'from the first application on' : `from the opening on ${momentOf(openedAt)}`
  return <>Counts {isOpen ? since : 'from when you save'}. Whoever sends many can close such a door.</>
}

/** How the door stands now, where it was changed under what is being entered. */
function Meanwhile({ door, over }: { door: DoorState; over: number }) {
  // That it closes by itself is one change: what somebody did besides is more.
  const isByItself = !door.is_open && !door.closed && door.version === over + 1
  const last = isByItself ? undefined : door.history.find(({ kind }) => kind === 'door')
  return (
    <p className="notice error" role="alert">
      {last
        ? `${last.author} changed the door meanwhile, ${momentOf(last.at)}.`
        : 'The door closed by itself meanwhile.'}{' '}
      What you entered is still here and not saved: you can save it over how it stands now.{' '}
      {doorSentence(door)}
    </p>
  )
}
