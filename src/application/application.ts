/** The options of "Have you ever paid for a solution…": the stored value and its label. */
export const paidSolutions = {
  not: 'I have not',
  screen: 'Yes, screen time related',
  travel: 'Yes, travel related',
  work: 'Yes, work or team related',
  custom: 'Custom',
} as const

/** The options of "How many full time team members…": the stored value and its label. */
export const teamSizes = {
  'just-me': 'Just me',
  '1-3': '1-3',
  '3-10': '3-10',
  '10+': '10+',
} as const

/**
 * One application. The form's inputs, the stored row and everything in between use the column names of `retreat_applications`.
 * The two radio groups and `custom_solution` may be left blank (`''`).
 */
export interface Application {
  first_name: string
  last_name: string
  email: string
  phone: string
  linkedin: string
  company: string
  paid_solution: keyof typeof paidSolutions | ''
  custom_solution: string
  team_size: keyof typeof teamSizes | ''
  reason: string
  consent: boolean
}

/** The table of applications. */
export const table = 'retreat_applications'

/** The unique index that prevents duplicates of an application. */
export const uniqueIndex = 'retreat_applications_once'

/**
 * Whether the database refused an application as a duplicate. Only the message names the index.
 *
 * @param error The SQLSTATE and PostgreSQL's message.
 */
export function isDuplicate({ code, message }: { code: string; message: string }): boolean {
  return code === '23505' && message.includes(`"${uniqueIndex}"`)
}

/** The code of a refusal by the closed door. Its message is the sentence for applicants. */
export const closedCode = 'PT403'

/** Each column once. The type makes sure that none is missing. */
const columnKeys: Record<keyof Application, null> = {
  first_name: null,
  last_name: null,
  email: null,
  phone: null,
  linkedin: null,
  company: null,
  paid_solution: null,
  custom_solution: null,
  team_size: null,
  reason: null,
  consent: null,
}

/** The eleven columns that an applicant fills, in the order of the form. */
export const columns = Object.keys(columnKeys) as (keyof Application)[]

/** The most characters of a form answer in the database: a limit against abuse, since the form has no limit. */
export function maxLengthOf(column: keyof Application): number {
  return column === 'reason' || column === 'custom_solution' ? 100_000 : 10_000
}

/**
 * Whether the form answers are complete and pass the checks of the table. It can be false for valid answers that are almost as
 * long as the limit, since it counts an emoji as two characters.
 */
export function isComplete(sent: Readonly<Record<string, unknown>>): boolean {
  return columns.every((column) => {
    const answer = sent[column]
    if (column === 'consent') return answer === true
    // PostgreSQL cannot store a NUL or a lone surrogate.
    if (typeof answer !== 'string' || /[\0\p{Surrogate}]/u.test(answer)) return false
    if (answer.length > maxLengthOf(column)) return false
    if (column === 'paid_solution') return answer === '' || Object.hasOwn(paidSolutions, answer)
    if (column === 'team_size') return answer === '' || Object.hasOwn(teamSizes, answer)
    return column === 'custom_solution' || answer !== ''
  })
}

/**
 * Reads a submitted form.
 *
 * @param entries The form's entries, from `FormData` in the browser or `URLSearchParams` on the server. Only the value of the
 *   form's checkbox, `true`, counts as consent. A missing answer is blank, and the last of repeated answers counts. Values are
 *   not validated: the database does that. Line ends become LF: a browser that posts the form itself sends CRLF, but a script
 *   reads LF. The same form sent in both ways is then one application.
 */
export function applicationFrom(entries: Iterable<readonly [string, unknown]>): Application {
  const sent: Record<string, unknown> = Object.fromEntries(entries)
  const answer = (column: keyof Application) => {
    const value = sent[column]
    return typeof value === 'string' ? value.replaceAll('\r\n', '\n') : ''
  }
  const answers = columns.map((column) => [
    column,
    column === 'consent' ? sent[column] === 'true' : answer(column),
  ])
  return Object.fromEntries(answers) as Application
}

/** The form-encoded body of the outbound webhook: the application's fields in camel case, `consent` as `true` or `false`. */
export function webhookBody(application: Application): URLSearchParams {
  return new URLSearchParams(
    columns.map((column) => [
      column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      String(application[column]),
    ]),
  )
}
