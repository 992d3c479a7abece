import { sentOtherwise, type LetterState, type Listed } from '../../../client/desk.ts'
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

function wordOf({ way, state, answer }: LetterState) {
  if (answer === sentOtherwise.told) return answer
  if (way === 'automation' && state === 'sent') return 'automation told'
  return `${way === 'mail' ? 'letter' : 'automation'} ${state === 'sending' ? 'waiting' : state}`
}
