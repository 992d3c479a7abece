import type { LettersOverview } from '../../../client/desk/letters.ts'

/** The number of drafts, of all templates and without one. */
export function draftCountOf({ templates, personal }: LettersOverview): number {
  return templates.reduce((sum, { drafts }) => sum + drafts.count, personal.count)
}
