import { maxCharacters } from '../../../application/limits.ts'
import type { Places, RetreatDays } from '../../../client/desk/retreat.ts'
import { DaysFields } from '../editions/DaysFields.tsx'
import { findEarlierEdition } from '../editions/editions.ts'
import { SharePage } from '../first-steps/SharePage.tsx'
import { usePlaces } from '../data/usePlaces.ts'
import { Choice, Field } from '../kit/Field.tsx'
import { browserTimeZone } from '../kit/format.ts'
import { Screen, Sheet } from '../kit/Screen.tsx'
import { useUnsentText } from '../data/useUnsentText.ts'
import { SaveButtons, useVersionedDraft, type Unsaved } from '../data/useVersionedDraft.tsx'
import { ErasingNotice } from '../retention/ErasingNotice.tsx'
import { freeSentence, placesWordsOf, retreatWordsOf, zonesWith } from './places.ts'

/**
 * The screen with the days, the venue and the places of a retreat.
 *
 * @param edition The number of a retreat; undefined means the newest.
 */
export function RetreatShow({ edition }: { edition: number | undefined }) {
  const query = usePlaces(edition)
  return (
    <Screen
      title="Days and places"
      query={query}
      head={query.data?.erasing && <ErasingNotice announced={query.data.erasing} />}
    >
      {(places) => (
        <div className="layout-columns">
          <RetreatEdit key={edition} retreat={places.retreat} edition={places.edition} />
          {findEarlierEdition(places.editions, edition) === undefined && (
            <div>
              <PlacesEdit places={places} />
              <SharePage />
            </div>
          )}
        </div>
      )}
    </Screen>
  )
}

interface RetreatEditProps {
  retreat: RetreatDays
  /** The number of the retreat; undefined means the newest. */
  edition: number | undefined
}

/** The form for the days and the venue of the retreat, which people who are coming can put into their calendar. */
function RetreatEdit({ retreat, edition }: RetreatEditProps) {
  const draft = useVersionedDraft({
    input: useUnsentText<Unsaved<{ start: string; end: string; venue: string }>>(`retreat ${edition ?? ''}`),
    call: 'desk_set_retreat',
    stored: { start: retreat.starts_on ?? '', end: retreat.ends_on ?? '', venue: retreat.venue },
    version: retreat.version,
    argsOf: ({ start, end, venue }) => ({
      version: retreat.version,
      starts_on: start === '' ? null : start,
      ends_on: end === '' ? null : end,
      venue: venue.trim(),
      edition,
    }),
    versionOf: (saved) => saved.retreat.version,
    success: (saved) => `Saved. ${retreatWordsOf(saved.retreat)}.`,
  })
  const { value, enter } = draft
  return (
    <Sheet title="When and where">
      <form onSubmit={draft.onSubmit}>
        <p className="layout-quiet">
          People you accept see this with their link, and can put it into their calendar. Under Page you
          choose whether everybody sees it. Nobody is told of a change.
        </p>
        <DaysFields {...value} onDays={enter} />
        <Field
          label="Venue"
          hint="One line, such as a name and a town."
          autoComplete="off"
          maxLength={maxCharacters.venue}
          value={value.venue}
          onText={(venue) => enter({ venue })}
        />
        <SaveButtons
          draft={draft}
          save="Save retreat"
          conflictNotice={`Somebody else changed this meanwhile. ${retreatWordsOf(retreat)}. Your changes are not saved. Saving now replaces theirs.`}
        />
      </form>
    </Sheet>
  )
}

/**
 * The form for the number of seats, the days to answer and the time zone. It suggests the browser's time zone until one is saved.
 */
function PlacesEdit({ places }: { places: Places }) {
  const { is_zone_set: isZoneSet } = places
  const zone = isZoneSet ? places.zone : browserTimeZone()
  const draft = useVersionedDraft({
    input: useUnsentText<Unsaved<{ places: string; days: string; zone: string }>>('places'),
    call: 'desk_set_places',
    stored: { places: String(places.places ?? ''), days: String(places.days), zone },
    version: places.version,
    argsOf: ({ places: seats, days, zone: chosen }) => ({
      version: places.version,
      places: seats === '' ? null : Number(seats),
      days: Number(days),
      zone: chosen,
    }),
    versionOf: (saved) => saved.version,
    success: (saved) => `Saved. ${freeSentence(saved)}`,
  })
  const { value, enter } = draft
  return (
    <Sheet title="Places and deadlines">
      <form onSubmit={draft.onSubmit}>
        <Field
          label="Places"
          hint="Leave blank if not known."
          type="number"
          inputMode="numeric"
          min={0}
          max={1_000_000}
          value={value.places}
          onText={(seats) => enter({ places: seats })}
        />
        <Field
          label="Days to answer"
          hint="Counted from the day of their letter."
          type="number"
          inputMode="numeric"
          required
          min={1}
          max={365}
          value={value.days}
          onText={(days) => enter({ days })}
        />
        <Choice
          label="Time zone"
          hint={`Deadlines end at midnight in this time zone.${isZoneSet ? '' : ' Not saved yet: no letter with a deadline is sent until you save it.'}`}
          options={zonesWith(value.zone)}
          value={value.zone}
          onChoose={(chosen) => enter({ zone: chosen })}
        />
        <SaveButtons
          draft={draft}
          save="Save places"
          conflictNotice={`Somebody else changed this meanwhile: ${placesWordsOf({ ...places, zone: isZoneSet ? places.zone : undefined })}. Your changes are not saved. Saving now replaces theirs.`}
        />
      </form>
    </Sheet>
  )
}
