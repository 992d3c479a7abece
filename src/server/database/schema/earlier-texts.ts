/**
 * Migrations between two releases were once edited on `main`, so databases applied earlier texts of them. They get the statements
 * that they lack (docs/decisions/0028).
 */
import { functionName, replaceFunction } from './declared-functions.ts'
import { normalised } from './migrations.ts'
import { statementsOf } from './statements.ts'

/** The versions of shared migrations that were merged into another one, by its version. Add nothing here. */
export const mergedInto: Readonly<Record<string, readonly string[]>> = {
  // faster_places: history_of_acts, refusals
  '20261128112028': ['20261128112029', '20261129095900'],
}

/** Functions are replaced whenever their declaration changes, so statements about them may differ. */
const isAboutFunction = (statement: string) =>
  /^(?:createfunction|createorreplacefunction|dropfunction|(?:revokeall|grantexecute)onfunction)/.test(
    statement,
  )

const normalisedStatements = (text: string) => statementsOf(`${text};`).map(normalised).filter(Boolean)

/** Whether each statement of an earlier text is in a later one too, apart from those about functions. */
export function isContained(earlier: string, later: string): boolean {
  const statements = new Set(normalisedStatements(later))
  return normalisedStatements(earlier).every((each) => statements.has(each) || isAboutFunction(each))
}

/** The statements of a text that none of the earlier texts has, as one text. They replace functions of the same name. */
export function statementsSince(earlier: readonly string[], text: string): string {
  const known = new Set(earlier.flatMap(normalisedStatements))
  return statementsOf(text)
    .filter((each) => !known.has(normalised(each)))
    .map((each) => {
      const name = functionName.exec(each)?.[1]
      return name === undefined ? each : replaceFunction(name, each)
    })
    .join('\n\n')
}
