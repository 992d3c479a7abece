/** How a question is answered: in one line, in several lines, with one of several options, or with yes or no. */
export type QuestionKind = 'short' | 'long' | 'choice' | 'yes-no'

/** A question to guests, the people who are coming. */
export interface Question {
  id: string
  kind: QuestionKind
  text: string
  /** The options of a `choice`. */
  choices: string[]
  is_required: boolean
  /** Only organisers see its answers, which are erased after the retreat. */
  is_private: boolean
}

/** A question with one guest's answer. */
export interface AnsweredQuestion extends Question {
  /** Whether there is an answer, even one that the reader may not see. */
  is_answered: boolean
  /** Null if there is none, or if the reader may not see it. A `yes-no` has `yes` or `no`. */
  answer: string | null
}

/** Answers by the id of their question; blank to remove one. */
export type Answers = Record<string, string>

/** The most characters of an answer. */
export const maxAnswerLength = 2_000
