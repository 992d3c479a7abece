import type { Sentence } from './sentences.ts'

/** The most words of a sentence. */
const mostWords = 30

const clause = /^(?:who|whoever|what|whatever|where) |^that (?:an?|the|it|they|somebody|nobody|there) /i
const wrongWords: [wrong: RegExp, right: string][] = [
  [/\banew\b/i, 'again'],
  [/\bby (?:itself|themselves)\b/i, 'automatically'],
  [/\bso many\b/i, 'this many'],
  [/\bmails\b/i, 'emails'],
]

/**
 * Says what keeps a sentence from being read once (CONTRIBUTING.md, "Words").
 *
 * @returns One message for each problem.
 */
export function problemsOf({ words: sentence, isTitle }: Pick<Sentence, 'words' | 'isTitle'>): string[] {
  const problems: string[] = []
  // Headings and cells of tables are no sentences.
  if (clause.test(sentence) && (isTitle || sentence.endsWith('.')))
    problems.push('it begins with a clause: begin with the subject')
  for (const [wrong, right] of wrongWords) {
    const [found] = wrong.exec(sentence.replaceAll(/`[^`]*`/g, '')) ?? []
    if (found !== undefined) problems.push(`“${found}”: write “${right}”`)
  }
  const count = sentence.split(' ').filter((word) => /\w/.test(word)).length
  if (count > mostWords) problems.push(`it has ${count} words: write two sentences`)
  return problems
}
