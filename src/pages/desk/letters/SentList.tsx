import type { Letter } from '../../../client/desk/letters.ts'
import { ActProblems } from '../kit/ActProblems.tsx'
import { Button } from '../kit/Button.tsx'
import { momentOf } from '../kit/format.ts'
import { useDeskAct } from '../data/useDeskAct.ts'
import { isFailed, nameOfLetter, nameOfOccasion, returnableLetters } from './letters.ts'
import { UndeliveredEdit } from './UndeliveredEdit.tsx'

/** The letters that an applicant was sent, with a button for one that came back, and those that failed. */
export function SentList({ letters }: { letters: readonly Letter[] }) {
  const shown = returnableLetters(letters)
  if (shown.length === 0) return null
  return (
    <ul aria-label="Sent letters" className="layout-lines letters-outbox">
      {shown.map((letter) => (
        <SentLetter key={letter.id} letter={letter} />
      ))}
    </ul>
  )
}

function SentLetter({ letter }: { letter: Letter }) {
  const { id, name, sent_at: sentAt, occasion, state } = letter
  const label = `${nameOfLetter(letter)}, ${nameOfOccasion(occasion)}`
  const comeBack = useDeskAct('desk_came_back', { success: () => `${label}: came back` })
  return (
    <li>
      <p className="letters-about">
        <span>{nameOfOccasion(occasion)}</span>
        <span className="layout-quiet">
          {sentAt !== null && `Sent ${momentOf(sentAt)}`}
          {state === 'refused' && 'Refused'}
          {state === 'given up' && 'Not delivered'}
        </span>
      </p>
      {isFailed(letter) && <UndeliveredEdit letter={letter} label={label} />}
      {/* Blind readers see no address, and so cannot know whose letter came back. */}
      {!isFailed(letter) && name !== null && (
        <Button about={label} isPending={comeBack.isPending} onPress={() => comeBack.press({ letter: id })}>
          It came back
        </Button>
      )}
      <ActProblems acts={[comeBack]} />
    </li>
  )
}
