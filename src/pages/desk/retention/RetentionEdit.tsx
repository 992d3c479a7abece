import { useQuery } from '@tanstack/react-query'

import { maxMonths } from '../../../application/limits.ts'
import type { Retention } from '../../../client/desk/retention.ts'
import { nameOfEdition } from '../editions/editions.ts'
import { ApplicationLink } from '../data/links.tsx'
import { ActProblems } from '../kit/ActProblems.tsx'
import { Confirmation, Dialog } from '../kit/Dialog.tsx'
import { Field } from '../kit/Field.tsx'
import { filtersFrom } from '../data/filters.ts'
import { nameOf } from '../data/names.ts'
import { dayOf, formatNumber, momentOf } from '../kit/format.ts'
import { polled } from '../data/queries.ts'
import { Screen, Sheet } from '../kit/Screen.tsx'
import { useDesk } from '../data/useDesk.tsx'
import { useDeskAct } from '../data/useDeskAct.ts'
import { useUnsentText } from '../data/useUnsentText.ts'
import { SaveButtons, useVersionedDraft, type Unsaved } from '../data/useVersionedDraft.tsx'
import { announcementOf, applicationsOf, monthsFrom, retentionWordsOf } from './retention.ts'

/** The screen on which organisers set how long applications are kept. */
export function RetentionEdit() {
  const { call } = useDesk()
  const query = useQuery({
    queryKey: ['retention'],
    queryFn: ({ signal }) => call('desk_retention', {}, signal),
    ...polled,
  })
  return (
    <Screen title="How long applications are kept" query={query}>
      {(retention) => (
        <>
          <DueApplications retention={retention} />
          <div className="layout-settings">
            <MonthsEdit retention={retention} />
            <EditionDays retention={retention} />
            <Holds retention={retention} />
          </div>
        </>
      )}
    </Screen>
  )
}

interface RetentionProps {
  retention: Retention
}

/** The numbers of applications that will be erased and that are due already, with a button that erases the due ones. */
function DueApplications({ retention: { due, announced } }: RetentionProps) {
  const erase = useDeskAct('desk_erase_due', {
    success: ({ erased, due: remaining }) =>
      `${applicationsOf(erased)} erased.${remaining > 0 ? ` ${applicationsOf(remaining)} left: press again.` : ''}`,
  })
  const isShown = due > 0 || announced !== null
  if (!isShown) return null
  const dueWords = applicationsOf(due)
  return (
    <section className="layout-notice error" aria-label="Applications that will be erased">
      {announced && (
        <p>
          {announcementOf(announced)} They are erased after seven days of announcement; this is day{' '}
          {Math.min(announced.days, 7)}.
        </p>
      )}
      {due > 0 && (
        <>
          <p>
            {announced && due <= announced.applications ? `${formatNumber(due)} of them` : dueWords}{' '}
            {due === 1 ? 'is' : 'are'} due already:{' '}
            {announced ? 'you can erase them now.' : 'you erase them here.'}
          </p>
          <div className="layout-row">
            <Dialog
              button={due > 500 ? 'Erase the first 500 applications' : `Erase ${applicationsOf(due)}`}
              isPending={erase.isPending}
            >
              {(close) => (
                <Confirmation
                  title={`Erase ${dueWords[0]?.toLowerCase()}${dueWords.slice(1)} for good?`}
                  close={close}
                  closeWords="Not yet"
                  confirm="Erase for good"
                  onConfirm={() => erase.press({})}
                >
                  <p>Their answers, notes, marks and letters are erased, too.</p>
                </Confirmation>
              )}
            </Dialog>
          </div>
          <ActProblems acts={[erase]} />
        </>
      )}
    </section>
  )
}

/** The form for the number of months that applications are kept. */
function MonthsEdit({ retention }: RetentionProps) {
  const draft = useVersionedDraft({
    input: useUnsentText<Unsaved<{ months: string; guests: string }>>('retention'),
    call: 'desk_set_retention',
    stored: { months: String(retention.months ?? ''), guests: String(retention.months_for_guests ?? '') },
    version: retention.version,
    argsOf: ({ months, guests }) => ({
      version: retention.version,
      months: monthsFrom(months),
      months_for_guests: monthsFrom(guests),
    }),
    versionOf: (saved) => saved.version,
    success: (saved) => `Saved. ${retentionWordsOf(saved)}.`,
  })
  const { value, enter } = draft
  const field = { type: 'number', inputMode: 'numeric', min: 1, max: maxMonths } as const
  return (
    <Sheet title="Months">
      <form onSubmit={draft.onSubmit}>
        <Field
          {...field}
          label="Erase applications this many months after the retreat"
          hint="Leave blank to keep them until you erase them. This holds for every retreat whose days are known."
          value={value.months}
          onText={(months) => enter({ months })}
        />
        <Field
          {...field}
          label="The same for people who came"
          hint="People who answered that they are coming. Leave blank to keep theirs until you erase them."
          value={value.guests}
          onText={(guests) => enter({ guests })}
        />
        <ul>
          <li>
            Each erasing is announced for seven days before: here, under Days and places, and in the daily
            email. If nothing is announced, you erase here what is due.
          </li>
          <li>Each is erased for good, with its letters and answers. A restored backup erases it again.</li>
          <li>You can keep a single application, with a reason, where it is shown.</li>
        </ul>
        <SaveButtons
          draft={draft}
          conflictNotice={`Somebody else changed this meanwhile: ${retentionWordsOf(retention)}. Your changes are not saved. Saving now replaces theirs.`}
        />
      </form>
    </Sheet>
  )
}

/** The days on which the applications of each retreat are erased. */
function EditionDays({ retention: { editions, months, months_for_guests: guests } }: RetentionProps) {
  if (months === null && guests === null) return null
  return (
    <Sheet title="Days">
      <ul className="layout-lines">
        {editions.map((edition) => (
          <li key={edition.id}>
            <bdi>{nameOfEdition(edition)}</bdi>: {erasureWords(edition)}
          </li>
        ))}
      </ul>
    </Sheet>
  )
}

function erasureWords({ ends_on, erased_on: all, guests_erased_on: guests }: Retention['editions'][number]) {
  if (ends_on === null) return 'not before its days are set.'
  if (all === guests && all !== null) return `from ${dayOf(all)} on.`
  const parts = [
    ...(all === null ? [] : [`from ${dayOf(all)} on`]),
    guests === null ? 'never for people who came' : `from ${dayOf(guests)} on for people who came`,
    ...(all === null ? ['never for others'] : []),
  ]
  return `${parts.join(', ')}.`
}

/** The applications that organisers keep until they erase them. */
function Holds({ retention: { holds } }: RetentionProps) {
  if (holds.length === 0) return null
  return (
    <Sheet title="Kept until you erase them">
      <ul className="layout-lines">
        {holds.map((held) => (
          <li key={held.id}>
            <ApplicationLink id={held.id} filters={filtersFrom('status=all')}>
              {nameOf(held)}
            </ApplicationLink>
            {held.reason !== undefined && (
              <>
                {': '}
                <bdi>{held.reason}</bdi>
              </>
            )}{' '}
            <span className="layout-quiet">
              {held.held_by}, {momentOf(held.held_at)}
            </span>
          </li>
        ))}
      </ul>
    </Sheet>
  )
}
