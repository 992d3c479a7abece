import { maxCharacters } from '../../../application/limits.ts'
import type { Edition } from '../../../client/desk/editions.ts'
import { usePlaces } from '../data/usePlaces.ts'
import { Field } from '../kit/Field.tsx'
import { dayOf, localTimeOf } from '../kit/format.ts'
import { Screen, Sheet } from '../kit/Screen.tsx'
import { useUnsentText } from '../data/useUnsentText.ts'
import { SaveButtons, useVersionedDraft, type Unsaved } from '../data/useVersionedDraft.tsx'
import { EditionCreate } from './EditionCreate.tsx'
import { daysOfEdition, nameOfEdition } from './editions.ts'

/** The screen that begins the next retreat and names retreats. */
export function EditionsEdit() {
  return (
    <Screen title="Next retreat" query={usePlaces()}>
      {({ editions }) => (
        <div className="layout-columns editions-screen">
          {editions[0] && <EditionCreate newest={editions[0]} />}
          <Sheet title="Names">
            <p className="layout-quiet">
              Organisers see a name at the desk, and guests in the file for their calendar.
            </p>
            <ul className="layout-lines">
              {editions.map((edition) => (
                <li key={edition.id}>
                  <NameEdit edition={edition} />
                </li>
              ))}
            </ul>
          </Sheet>
        </div>
      )}
    </Screen>
  )
}

/** The form for the name of a retreat. */
function NameEdit({ edition }: { edition: Edition }) {
  const { id, name } = edition
  const draft = useVersionedDraft({
    input: useUnsentText<Unsaved<{ name: string }>>(`edition ${id}`),
    call: 'desk_name_edition',
    stored: { name },
    version: name,
    argsOf: (entered) => ({ edition: id, name: entered.name.trim() }),
    versionOf: (saved) => saved.editions.find((each) => each.id === id)?.name ?? name,
    success: () => 'Name saved.',
  })
  return (
    <form className="edition-name" aria-label={nameOfEdition(edition)} onSubmit={draft.onSubmit}>
      <Field
        label={`Name of ${nameOfEdition({ id, name: '' }).toLowerCase()}`}
        hint={[beginningOf(edition), daysOfEdition(edition)].filter(Boolean).join(' ')}
        autoComplete="off"
        maxLength={maxCharacters.edition}
        value={draft.value.name}
        onText={(text) => draft.enter({ name: text })}
      />
      <SaveButtons
        draft={draft}
        save="Save name"
        about={nameOfEdition(edition)}
        conflictNotice={`Somebody else changed this meanwhile: ${nameOfEdition(edition)}. Your change is not saved. Saving now replaces theirs.`}
      />
    </form>
  )
}

/** A sentence about the day since which applications belong to a retreat; blank for the first. */
function beginningOf({ began_at: at }: Edition) {
  return at === null ? '' : `Applications since ${dayOf(localTimeOf(Date.parse(at)).slice(0, 10))}.`
}
