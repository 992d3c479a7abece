import { useContext, useState } from 'react'

import { daysOf } from '../../../application/calendar.ts'
import type { Question } from '../../../application/questions.ts'
import { serverTime } from '../../../client/clock.ts'
import type { Guest, Questions } from '../../../client/desk/questions.ts'
import type { Places } from '../../../client/desk/retreat.ts'
import { storageOf } from '../../../client/storage.ts'
import { usePlaces } from '../data/usePlaces.ts'
import { ApplicationLink } from '../data/links.tsx'
import { announce } from '../kit/announce.tsx'
import { Button } from '../kit/Button.tsx'
import { Choice } from '../kit/Field.tsx'
import { Tick } from '../kit/Tick.tsx'
import { filtersFrom } from '../data/filters.ts'
import { nameOf } from '../data/names.ts'
import { countOf, dayOf, formatNumber, localTimeOf } from '../kit/format.ts'
import { hrefOf } from '../data/route.ts'
import { saveFile } from '../kit/save-file.ts'
import { Screen, Sheet } from '../kit/Screen.tsx'
import { SiteTitle } from '../kit/site-title.tsx'
import {
  chosenOf,
  columnsOf,
  guestsFile,
  isReadBlind,
  openCount,
  openQuestions,
  sorted,
  sortedByAnswer,
  totalsOf,
  type GuestColumn,
} from './guests.ts'
import { useGuests } from './useQuestions.ts'

/** The screen with all guests and their answers, as a table to read, print and download. */
export function GuestList({ edition }: { edition: number | undefined }) {
  const query = useGuests(edition)
  const { data: places } = usePlaces(edition)
  return (
    <Screen title="Guest list" query={query}>
      {({ guests, asked }) =>
        guests.length === 0 ? (
          <p className="layout-quiet">
            Nobody is coming yet. People who press “I am coming” appear here, with their answers.{' '}
            <a href={hrefOf({ screen: 'coming', edition })}>Who is coming</a> says who has not answered.
          </p>
        ) : (
          <Guests byName={sorted(guests)} {...{ asked, places, edition }} />
        )
      }
    </Screen>
  )
}

interface GuestsProps {
  /** The guests in the order of their names. */
  byName: readonly Guest[]
  asked: Questions
  places: Places | undefined
  /** The number of the retreat that is shown; undefined means the newest. */
  edition: number | undefined
}

function Guests({ byName, asked, places, edition }: GuestsProps) {
  const siteTitle = useContext(SiteTitle)
  const isBlind = isReadBlind(byName)
  const columns = columnsOf(asked.questions, isBlind)
  const questions = openQuestions(asked, places?.today)
  const [ticks, setTicks] = useState(storedTicks)
  const chosen = chosenOf(columns, ticks)
  const shownQuestions = asked.questions.filter(({ id }) => chosen.some((column) => column.id === id))
  const [order, setOrder] = useState('')
  const orderedBy = shownQuestions.find(({ id }) => id === order)
  const guests = orderedBy ? sortedByAnswer(byName, orderedBy, places?.retreat.starts_on) : byName
  const incompleteCount = guests.filter((guest) => openCount(guest, questions, isBlind) > 0).length

  const tick = (id: string, isOn: boolean) => {
    const changed = { ...ticks, [id]: isOn }
    setTicks(changed)
    storeTicks(changed, columns)
  }
  const download = () => {
    saveFile(
      guestsFile(guests, chosen),
      edition === undefined ? 'guests' : `guests-of-retreat-${edition}`,
      'csv',
    )
    announce(`Downloaded ${countOf(guests.length, 'guest')}.`)
  }
  return (
    <div className="guests-screen">
      <p className="guests-paper">{paperWords(guests.length, places, siteTitle)}</p>
      <p className="guests-count">
        {countOf(guests.length, 'guest')}.{' '}
        {incompleteCount > 0 && (
          <>
            {formatNumber(incompleteCount)} {incompleteCount === 1 ? 'has' : 'have'} not answered all required
            questions: <a href={hrefOf({ screen: 'coming', edition })}>draft reminders</a>.
          </>
        )}
      </p>
      {isBlind && <p>Names, contact details and private answers are hidden: blind reading is on.</p>}
      <div className="layout-columns guests-options">
        {/* The order and the buttons share a line, so that the first guests are in sight. */}
        <form className="layout-sheet layout-field-row" aria-label="Columns">
          {columns.length > 0 && (
            <fieldset className="guests-columns">
              <legend>Columns</legend>
              {columns.map(({ id, label, isPrivate }) => (
                <Tick key={id} isOn={chosen.some((each) => each.id === id)} onTick={(isOn) => tick(id, isOn)}>
                  {label}
                  {isPrivate && <span className="layout-quiet"> (private)</span>}
                </Tick>
              ))}
            </fieldset>
          )}
          {shownQuestions.length > 0 && (
            <Choice
              label="Order"
              options={[['', 'Name'], ...shownQuestions.map(({ id, text }) => [id, text] as const)]}
              value={orderedBy?.id ?? ''}
              onChoose={setOrder}
            />
          )}
          <div className="layout-row">
            <Button onPress={() => print()}>Print</Button>
            <Button onPress={download}>Download CSV</Button>
          </div>
          <p className="control-hint">
            The printed list and the file have this order and the columns that are ticked.
          </p>
        </form>
        <Totals guests={guests} questions={shownQuestions} />
      </div>
      <Sheet title="Everyone who is coming" className="guests-sheet">
        {/* With the focus here, keys scroll a table that is wider than the window. */}
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
        <section className="guests-scroll" aria-label="Table of guests" tabIndex={0}>
          <GuestTable {...{ guests, questions, isBlind, edition }} columns={chosen} />
        </section>
      </Sheet>
    </div>
  )
}

/** How many guests gave each answer to the questions whose columns are ticked. */
function Totals({ guests, questions }: { guests: readonly Guest[]; questions: readonly Question[] }) {
  const rows = questions
    .map((question) => ({ question, totals: totalsOf(question, guests) }))
    // Texts that all differ have no totals.
    .filter(({ totals }) => totals.answers.length > 0)
  if (rows.length === 0) return null
  return (
    <Sheet title="Totals" className="guests-totals">
      <dl>
        {rows.map(({ question, totals: { answers, others, unanswered } }) => (
          <div key={question.id}>
            <dt>
              {question.text}
              {question.is_private && ' (private)'}
            </dt>
            {answers.map(({ answer, count }) => (
              <dd key={answer}>
                <b>{formatNumber(count)}</b> <bdi>{answer}</bdi>
              </dd>
            ))}
            {others > 0 && <dd className="layout-quiet">{countOf(others, 'other answer')}</dd>}
            {unanswered > 0 && <dd className="layout-quiet">{formatNumber(unanswered)} no answer</dd>}
          </div>
        ))}
      </dl>
    </Sheet>
  )
}

interface GuestTableProps extends Pick<GuestsProps, 'edition'> {
  guests: readonly Guest[]
  /** The questions that guests can still answer. */
  questions: readonly Question[]
  columns: readonly GuestColumn[]
  isBlind: boolean
}

function GuestTable({ guests, questions, columns, isBlind, edition }: GuestTableProps) {
  return (
    <table className="guests-table layout-cards" data-size={columns.length > 6 ? 'many' : undefined}>
      <thead>
        <tr>
          <th scope="col">Name</th>
          {columns.map(({ id, label, isPrivate }) => (
            <th key={id} scope="col">
              {label}
              {isPrivate && ' (private)'}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {guests.map((guest) => {
          const missing = openCount(guest, questions, isBlind)
          return (
            <tr key={guest.id}>
              <th scope="row">
                <ApplicationLink
                  className="guests-link"
                  id={guest.id}
                  filters={{ ...filtersFrom(''), edition }}
                >
                  {nameOf(guest)}
                </ApplicationLink>
                {missing > 0 && <span className="guests-open">{countOf(missing, 'answer')} missing</span>}
              </th>
              {columns.map((column) => (
                <GuestCell key={column.id} column={column} text={column.textOf(guest)} />
              ))}
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

/** A word that would make its column wide. */
const longWord = /\S{24}/

/** The class of a cell. A phone number stays on one line, unless it is too long to be a phone number. */
function classOf(column: string, text: string) {
  if (column === 'phone' && text.length <= 24) return 'guests-phone'
  return longWord.test(text) ? 'guests-long' : undefined
}

function GuestCell({ column: { id, label, kind, isPrivate }, text }: { column: GuestColumn; text: string }) {
  const isUnanswered = text === '' && kind !== 'contact'
  return (
    <td data-kind={text.length > 60 ? 'long' : kind} className={classOf(id, text)}>
      {/* In narrow windows each row is a card, whose lines have labels. Screen readers read the column's name. */}
      <span className="guests-label" aria-hidden>
        {label}
        {isPrivate && ' (private)'}
      </span>
      <bdi className={isUnanswered ? 'layout-quiet' : undefined}>{isUnanswered ? 'no answer' : text}</bdi>
    </td>
  )
}

/** The line below the title on paper: the retreat, the number of guests, and the day of printing. */
function paperWords(count: number, places: Places | undefined, siteTitle: string) {
  const { starts_on, ends_on, venue = '' } = places?.retreat ?? {}
  const shown = places?.editions.find(({ id }) => id === places.edition)
  const days = starts_on && ends_on ? daysOf({ starts_on, ends_on }) : ''
  const about = [siteTitle, shown?.name, days, venue].filter(Boolean).join(' · ')
  const today = localTimeOf(serverTime()).slice(0, '2026-12-31'.length)
  return `${about} · ${countOf(count, 'guest')}, as of ${dayOf(today)}`
}

const storageKey = 'unplugged-desk-guests'
const storage = storageOf('localStorage')

/** The columns that were ticked or unticked in this browser. */
function storedTicks(): Record<string, boolean> {
  try {
    return (JSON.parse(storage.getItem(storageKey) ?? '{}') ?? {}) as Record<string, boolean>
  } catch {
    return {}
  }
}

/** Stores ticks, except those of private columns, which have to be ticked again on each visit to the screen. */
function storeTicks(ticks: Readonly<Record<string, boolean>>, columns: readonly GuestColumn[]) {
  const remembered = columns
    .filter(({ id, isPrivate }) => !isPrivate && id in ticks)
    .map(({ id }) => [id, ticks[id]])
  storage.setItem(storageKey, JSON.stringify(Object.fromEntries(remembered)))
}
