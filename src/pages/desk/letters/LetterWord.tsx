import type { Letter, Listed } from '../../../client/desk.ts'
import { useJudge } from '../judging/JudgeProvider.tsx'

interface LetterWordProps {
  row: Listed
  /** Of any applications, the oldest first. */
  letters: readonly Letter[]
}

/** In a few words, what became of the letter for how an application stands. */
export function LetterWord({ row, letters }: LetterWordProps) {
  const { status } = useJudge().judge.shownOf(row)
  const letter = letters.findLast(
    (each) =>
      each.application === row.id &&
      each.occasion === status &&
      each.state !== 'draft' &&
      each.state !== 'withdrawn',
  )
  if (letter === undefined) return null
  return <span className="letter-word">letter {letter.state === 'sending' ? 'waiting' : letter.state}</span>
}
