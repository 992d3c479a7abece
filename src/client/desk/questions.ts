import type { Question } from '../../application/questions.ts'

/** The questions of one retreat. */
export interface Questions {
  /** The number of their retreat. */
  edition: number
  /** The number of changes. A change must name the version that the organiser saw. */
  version: number
  /** The last day for answers, as organisers set it (`2026-12-31`). Null means the first day of the retreat. */
  until: string | null
  /** The last day that applies: `until`, or the first day of the retreat. Null if neither is known. */
  closes_on: string | null
  /** Days from the end of the retreat to the erasure of private answers; null if no question is private. */
  private_days: number | null
  /** The day on which the private answers are erased; null if it is unknown. */
  erased_on: string | null
  /** The number of private answers whose day of erasure has come. */
  due: number
  /** Each question with the number of its answers. */
  questions: (Question & { answers: number })[]
}

/** A person who is coming. An organiser with blind reading on gets only the id and the answers that are not private. */
export interface Guest {
  id: string
  first_name?: string
  /** The email, if the name shows nothing. */
  name?: string
  last_name?: string
  email?: string
  phone?: string
  company?: string
  /** The answers, by the id of the question. */
  answers: Record<string, string>
}

/** One page of the guests. */
export interface GuestPage {
  guests: Guest[]
  /** The cursor of the next page; null at the end. */
  next: { id: string } | null
}
