/** How a question is answered. */
export type QuestionKind = 'short' | 'long' | 'choice' | 'yes-no'

/** A question to guests, the people who are coming. */
export interface Question {
  id: string
  kind: QuestionKind
  text: string
  /** The options of a `choice`. */
  choices: string[]
  is_required: boolean
  /** Whether its answers are hidden from organisers who read blind, and erased after the retreat. */
  is_private: boolean
}

/** A question with the answer of one guest. */
export interface AnsweredQuestion extends Question {
  is_answered: boolean
  /** Null if there is none, or if it is private and the organiser reads blind. `yes` or `no` for the kind `yes-no`. */
  answer: string | null
}

/** The questions of the newest edition. */
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
