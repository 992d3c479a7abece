import { maxAnswerLength } from './questions.ts'

// Limits that the database enforces and the pages show: `test/database/desk/shared-constants.test.ts` compares the two.

/** The most characters of texts that organisers write. */
export const maxCharacters = {
  /** The sentence for applicants while the door is closed. */
  sentence: 300,
  note: 10_000,
  /** The reason for a mark. */
  why: 300,
  /** The name of a template. */
  occasion: 60,
  subject: 200,
  body: 20_000,
  address: 254,
  /** The retreat's location. */
  venue: 200,
  /** The name of a retreat. */
  edition: 100,
  /** The name of an organiser. */
  organiser: 60,
  /** The reason for keeping an application. */
  hold: 500,
  /** A question to guests, and one of its options. */
  question: 200,
  option: 100,
  /** A guest's answer to a question. */
  answer: maxAnswerLength,
} as const

/** The most applications, or letters, of one call. */
export const maxPerCall = 1_000

/** The number of applications in one step. An act on more applications shows its progress after each step, and can be stopped. */
export const stepSize = 100

/** The most letters that are released without confirming their number. */
export const maxUnconfirmed = 30

/** The number of rows that the desk's list shows at first, and adds with each press of More; fewer where rows are long. */
export const pageSize = 50

/** The most questions to guests. */
export const maxQuestions = 10

/** The number of days after the retreat until private answers are erased: the number that the desk offers, and the maximum. */
export const privateDays = { offered: 30, max: 365 } as const

/** The most months after the retreat for which applications are kept. */
export const maxMonths = 120

/** The default sentence for applicants while the door is closed. */
export const closedSentence = 'Applications are closed.'
