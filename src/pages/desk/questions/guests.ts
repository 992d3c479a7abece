import { byteOrderMark, csvTextLines } from '../../../application/csv.ts'
import type { Question } from '../../../application/questions.ts'
import type { Guest, Questions } from '../../../client/desk/questions.ts'
import { nameOf } from '../data/names.ts'
import { arrivalIn } from './arrival.ts'
import { answerWords } from './questions.ts'

/** A column of the guests' table that people choose. */
export interface GuestColumn {
  /** The name of a contact field, or the id of a question. */
  id: string
  label: string
  kind: 'contact' | Question['kind']
  isPrivate: boolean
  textOf: (guest: Guest) => string
}

const contacts = [
  ['company', 'Company'],
  ['email', 'Email'],
  ['phone', 'Phone'],
] as const

/** Whether the reader of these guests reads blind. */
export function isReadBlind(guests: readonly Guest[]): boolean {
  return guests.some((guest) => guest.first_name === undefined)
}

/** The columns to choose from. Blind readers have no contact fields and no private questions. */
export function columnsOf(questions: readonly Question[], isBlind: boolean): GuestColumn[] {
  return [
    ...contacts.map(([id, label]) => ({
      id,
      label,
      kind: 'contact' as const,
      isPrivate: false,
      textOf: (guest: Guest) => guest[id] ?? '',
    })),
    ...questions.map((question) => ({
      id: question.id,
      label: question.text,
      kind: question.kind,
      isPrivate: question.is_private,
      textOf: (guest: Guest) => answerWords(question, guest.answers[question.id] ?? ''),
    })),
  ].filter(({ kind, isPrivate }) => !isBlind || (kind !== 'contact' && !isPrivate))
}

/** The chosen columns. A column that nobody ticked or unticked is chosen if it is a question that is not private. */
export function chosenOf(
  columns: readonly GuestColumn[],
  ticks: Readonly<Record<string, boolean>>,
): GuestColumn[] {
  return columns.filter(({ id, kind, isPrivate }) => ticks[id] ?? (kind !== 'contact' && !isPrivate))
}

const answerCollator = new Intl.Collator('en', { sensitivity: 'base', numeric: true })
const nameCollator = new Intl.Collator('en', { sensitivity: 'base' })

/** The guests in the order of their last names, or of their ids if names are hidden. */
export function sorted(guests: readonly Guest[]): Guest[] {
  const compare = (one: Guest, other: Guest) =>
    nameCollator.compare(one.last_name ?? one.id, other.last_name ?? other.id) ||
    nameCollator.compare(one.first_name ?? '', other.first_name ?? '') ||
    (one.id < other.id ? -1 : 1)
  return guests.toSorted(compare)
}

/**
 * The guests in the order of their answers to a question: options in their order, and texts by the moment that they name, such as of
 * the arrival, and otherwise by the alphabet. Guests without an answer come last. Equal answers keep the order of the guests.
 *
 * @param start The first day of the retreat, as `2026-12-31`.
 */
export function sortedByAnswer(guests: readonly Guest[], question: Question, start?: string | null): Guest[] {
  const options = question.kind === 'yes-no' ? ['yes', 'no'] : question.choices
  const rankOf = (answer: string) => {
    if (options.length > 0) return options.indexOf(answer) === -1 ? Infinity : options.indexOf(answer)
    return arrivalIn(answer, start ?? undefined) ?? Infinity
  }
  const keyed = guests.map((guest) => {
    const answer = guest.answers[question.id]
    return { guest, answer: answer ?? '', isBlank: answer === undefined, rank: rankOf(answer ?? '') }
  })
  const compare = (one: (typeof keyed)[number], other: (typeof keyed)[number]) => {
    if (one.isBlank !== other.isBlank) return one.isBlank ? 1 : -1
    if (one.rank !== other.rank) return one.rank < other.rank ? -1 : 1
    return answerCollator.compare(one.answer, other.answer)
  }
  return keyed.toSorted(compare).map(({ guest }) => guest)
}

/** An answer, and the number of guests who gave it. */
export interface AnswerCount {
  answer: string
  count: number
}

/**
 * The totals of a question: how many guests gave each answer, options in their order and texts the most frequent first. Texts that
 * only one guest wrote are counted together as `others`.
 */
export function totalsOf(
  question: Question,
  guests: readonly Guest[],
): { answers: AnswerCount[]; others: number; unanswered: number } {
  const counts = new Map<string, AnswerCount>()
  let unanswered = 0
  const isText = question.kind === 'short' || question.kind === 'long'
  for (const { answers } of isText ? guests : sortedByAnswer(guests, question)) {
    const given = answers[question.id]
    if (given === undefined) {
      unanswered++
      continue
    }
    const answer = answerWords(question, given).trim()
    const key = isText ? answer.toLowerCase().replace(/[.!]+$/, '') : answer
    const counted = counts.get(key)
    if (counted) counted.count++
    else counts.set(key, { answer, count: 1 })
  }
  const all = [...counts.values()]
  const shared = isText ? all.filter(({ count }) => count > 1) : all
  return {
    answers: isText ? shared.toSorted((one, other) => other.count - one.count) : shared,
    others: all.length - shared.length,
    unanswered,
  }
}

/** The questions that guests can still answer: none after the last day, or before today's date is known. */
export function openQuestions(
  { questions, closes_on: closesOn }: Pick<Questions, 'questions' | 'closes_on'>,
  today: string | undefined,
): readonly Question[] {
  return today !== undefined && (closesOn === null || closesOn >= today) ? questions : []
}

/** The number of required questions that a guest has not answered. Private ones are not counted for blind readers. */
export function openCount({ answers }: Guest, questions: readonly Question[], isBlind: boolean): number {
  return questions.filter(
    ({ id, is_required, is_private }) => is_required && !(isBlind && is_private) && answers[id] === undefined,
  ).length
}

/** The table as a file for spreadsheets, with the chosen columns. */
export function guestsFile(guests: readonly Guest[], columns: readonly GuestColumn[]): Blob {
  const rows = [
    ['Name', ...columns.map(({ label }) => label)],
    ...guests.map((guest) => [nameOf(guest), ...columns.map(({ textOf }) => textOf(guest))]),
  ]
  return new Blob([byteOrderMark, csvTextLines(rows)], { type: 'text/csv' })
}
