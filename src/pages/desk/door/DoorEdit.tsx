import { closedSentence, maxCharacters } from '../../../application/limits.ts'
import { serverTime } from '../../../client/clock.ts'
import type { Door, GeneralHistoryEntry } from '../../../client/desk/retreat.ts'
import { Field, TextField } from '../kit/Field.tsx'
import { localTimeOf, momentOf } from '../kit/format.ts'
import { Screen } from '../kit/Screen.tsx'
import { usePlaces } from '../data/usePlaces.ts'
import { useUnsentText } from '../data/useUnsentText.ts'
import { SaveButtons, useVersionedDraft, type Unsaved } from '../data/useVersionedDraft.tsx'
import { changeFrom, doorSentence, entriesOf, zoneHint, type Entries } from './door.ts'
import { useDoor } from './useDoor.ts'

/** The state of the door, and who changed it last. */
type DoorWithHistory = Door & { history: GeneralHistoryEntry[] }

/** The screen that shows and changes whether applications are taken. */
export function DoorEdit() {
  const query = useDoor()
  return (
    <Screen title="Door" query={query}>
      {(door) => (
        <div className="door-screen layout-settings">
          <section className="layout-sheet" aria-label="Current state">
            <p className={`layout-notice door-status ${door.is_open ? 'success' : 'door-closed'}`}>
              {doorSentence(door)}
            </p>
            <DoorForm door={door} now={serverTime(query.dataUpdatedAt)} />
          </section>
        </div>
      )}
    </Screen>
  )
}

interface DoorFormProps {
  door: DoorWithHistory
  /** When the door was read by the server's clock, in milliseconds since 1970. The closing time cannot be earlier. */
  now: number
}

function DoorForm({ door, now }: DoorFormProps) {
  const input = useUnsentText<Unsaved<Entries>>('door')
  const { data: places } = usePlaces()
  const draft = useVersionedDraft({
    input,
    call: 'desk_set_door',
    stored: entriesOf(door, now),
    version: door.version,
    argsOf: (entered) => changeFrom(entered, door),
    versionOf: (saved) => saved.version,
    success: (saved) => `Saved. ${doorSentence(saved)}`,
  })
  const { value: entries, enter } = draft
  return (
    <form onSubmit={draft.onSubmit}>
      <fieldset>
        <legend>The door is</legend>
        <div className="layout-row">
          {(['Open', 'Closed'] as const).map((name) => (
            <label key={name} className="choice">
              <input
                type="radio"
                name="door"
                checked={entries.closed === (name === 'Closed')}
                onChange={() => enter({ closed: name === 'Closed' })}
              />
              {name}
            </label>
          ))}
        </div>
      </fieldset>
      <TextField
        label="Sentence for applicants"
        hint={`Applicants read it while the door is closed. At most ${maxCharacters.sentence} characters. If blank: “${closedSentence}”`}
        rows={2}
        maxLength={maxCharacters.sentence}
        value={entries.sentence}
        onText={(sentence) => enter({ sentence })}
      />
      {!entries.closed && (
        <div className="door-conditions">
          <Field
            label="Close at"
            hint={zoneHint(entries.closesAt, places?.is_zone_set ? places.zone : undefined)}
            type="datetime-local"
            min={localTimeOf(now)}
            max="9999-12-31T23:59"
            value={entries.closesAt}
            onText={(closesAt) => enter({ closesAt })}
          />
          <Field
            label="Close after this many applications"
            hint={countHint(door)}
            type="number"
            inputMode="numeric"
            min={1}
            max={2_147_483_647}
            value={entries.closesAfter}
            onText={(closesAfter) => enter({ closesAfter })}
          />
        </div>
      )}
      <SaveButtons
        draft={draft}
        save={saveWords(entries, door)}
        conflictNotice={draft.isStale && conflictNotice(door, Number(input[0]?.over))}
      />
    </form>
  )
}

/** The words of the save button: it closes or opens the door, or saves only the text and limits. */
function saveWords({ closed }: Entries, { is_open: isOpen }: Door) {
  if (closed !== isOpen) return 'Save'
  return closed ? 'Close the door' : 'Open the door'
}

/** An open door counts applications from its opening; a closed door, from the save that opens it. */
function countHint({ is_open: isOpen, opened_at: openedAt }: Door) {
  const since =
    openedAt === null ? 'from the first application on' : `from the opening on ${momentOf(openedAt)}`
  return `Counts ${isOpen ? since : 'from when you save'}. Somebody who sends many applications can close the door this way.`
}

/** The notice that the door was changed while the organiser typed, with its current state. */
function conflictNotice(door: DoorWithHistory, baseVersion: number) {
  // An automatic closing adds exactly one version. More versions mean that somebody changed the door too.
  const isAutomatic = !door.is_open && !door.closed && door.version === baseVersion + 1
  const last = isAutomatic ? undefined : door.history[0]
  const [reason, replaced] = last
    ? [`${last.author} changed the door meanwhile, ${momentOf(last.at)}.`, 'theirs']
    : ['The door closed automatically.', 'the current state']
  return `${reason} Your changes are not saved. Saving now replaces ${replaced}. ${doorSentence(door)}`
}
