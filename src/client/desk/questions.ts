import type { Question } from '../../application/questions.ts'

/** The questions of one retreat. */
export interface Questions {
  /** The number of changes. A change must name the version that its author saw. */
  version: number
  /** The last day for answers as organisers set it, as `2026-12-31`; null for the first day of the retreat. */
  until: string | null
  /** The last day for answers; null if there is none. */
  closes_on: string | null
  /** The number of days after the retreat on which private answers are erased; null without private questions. */
  private_days: number | null
  /** The day on which they are erased; null if it is unknown. */
  erased_on: string | null
  /** The number of private answers that are due to be erased. */
  due: number
  /** Each question with the number of its answers. */
  questions: (Question & { answers: number })[]
}

/** A person who is coming. Organisers who read blind get only the id and the answers that are not private. */
export interface Guest {
  id: string
  first_name?: string
  last_name?: string
  email?: string
  phone?: string
  company?: string
  /** By the id of the question. */
  answers: Record<string, string>
}

/** One page of the guests. */
export interface GuestPage {
  guests: Guest[]
  /** The cursor of the next page; null at the end. */
  next: { id: string } | null
}
