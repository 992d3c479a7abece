import type { LetterState, Listed } from '../../../client/desk.ts'
import { useJudge } from '../judging/JudgeProvider.tsx'

interface LetterWordProps {
  row: Listed
  /** Of any applications, the oldest first. */
  letters: readonly LetterState[]
}

/** In a few words, what became of the letter for how an application stands. */
export function LetterWord({ row, letters }: LetterWordProps) {
  const { status } = useJudge().judge.shownOf(row)
  const those = letters.filter(({ application, occasion }) => application === row.id && occasion === status)
  const letter = those.findLast(({ way }) => way === 'mail') ?? those.at(-1)
  if (letter === undefined) return null
  return <span className="letter-word">{wordOf(letter)}</span>
}

function wordOf({ way, state, otherwise }: LetterState) {
  if (otherwise === 'told') return 'told otherwise'
  if (way === 'automation' && state === 'sent') return 'automation told'
  return `${way === 'mail' ? 'letter' : 'automation'} ${state === 'sending' ? 'waiting' : state}`
}
