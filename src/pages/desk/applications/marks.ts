import type { MarkValue } from '../../../client/desk/marks.ts'

/** The words of the marks, in their order. */
export const markWords: Record<MarkValue, string> = { yes: 'Yes', maybe: 'Maybe', no: 'No' }

/** Two letters for an author: the first of two names, otherwise the first two of the only name. `author` may be an email. */
export function initialsOf(author: string): string {
  const names = author.replace(/@.*/, '').match(/[^\s._+-]+/g) ?? [author]
  const [first = [], ...others] = names.map((name) => Array.from(name))
  const [second] = others.at(-1) ?? first.slice(1)
  return [first[0], second].join('').toUpperCase()
}
