// Limits that the database enforces and the pages tell: `server/rest/limits.test.ts` compares the two.

/** The most characters of what organisers write. */
export const mostCharacters = {
  /** What applicants read while the door is closed. */
  sentence: 300,
  note: 10_000,
  /** The name of a template. */
  occasion: 60,
  subject: 200,
  body: 20_000,
  address: 254,
} as const

/** The most applications, or letters, of one call. */
export const mostAtOnce = 1_000

/** The applications of one step: where an act is about more of them, it tells its progress after each step, and can be stopped. */
export const stepSize = 100

/** The most letters that are released without saying how many they are. */
export const mostUnasked = 30

/** The rows that the desk's list shows at first and adds with each press of More; fewer where rows are long. */
export const pageSize = 50

/** What applicants read while the door is closed, where organisers wrote nothing. */
export const closedSentence = 'Applications are closed.'
