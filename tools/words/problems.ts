/** The largest number of words in a sentence. */
const maxWords = 30

const clause = /^(?:who|whoever|what|whatever|where) |^that (?:an?|the|it|they|somebody|nobody|there) /i
const wrongWords: [wrong: RegExp, right: string][] = [
  [/\banew\b/i, 'again'],
  [/\bby (?:itself|themselves)\b/i, 'automatically'],
  [/\bso many\b/i, 'this many'],
  [/\bmails\b/i, 'emails'],
]

/**
 * Finds why people may have to read a sentence twice (CONTRIBUTING.md, "Words").
 *
 * @returns One message for each problem.
 */
export function problemsOf(sentence: string): string[] {
  const problems: string[] = []
  // A heading or a cell of a table may begin with a clause, because it is not a sentence.
  if (clause.test(sentence) && sentence.endsWith('.'))
    problems.push('it begins with a clause: begin with the subject')
  for (const [wrong, right] of wrongWords) {
    const [found] = wrong.exec(sentence.replaceAll(/`[^`]*`/g, '')) ?? []
    if (found !== undefined) problems.push(`“${found}”: write “${right}”`)
  }
  const count = sentence.split(' ').filter((word) => /\w/.test(word)).length
  if (count > maxWords) problems.push(`it has ${count} words: write two sentences`)
  return problems
}
