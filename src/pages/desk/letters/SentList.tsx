import type { Letter } from '../../../client/desk/letters.ts'
import { ActButton } from '../kit/ActButton.tsx'
import { ActProblems } from '../kit/ActProblems.tsx'
import { momentOf } from '../kit/format.ts'
import { useDeskAct } from '../data/useDeskAct.ts'
import { isFailed, nameOfLetter, nameOfOccasion, returnableLetters, wordsOfLetter } from './letters.ts'
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
  const { id, name, sent_at: sentAt, occasion } = letter
  const label = `${nameOfLetter(letter)}, ${nameOfOccasion(occasion)}`
  const comeBack = useDeskAct('desk_came_back', { success: () => `${label}: came back` })
  if (isFailed(letter))
    return (
      <li>
        <p className="letters-about">{wordsOfLetter(letter)}</p>
        <UndeliveredEdit letter={letter} label={label} />
      </li>
    )
  return (
    <li>
      <p className="letters-about">
        <span>{nameOfOccasion(occasion)}</span>
        {sentAt !== null && <span className="layout-quiet">Sent {momentOf(sentAt)}</span>}
      </p>
      {/* Blind readers see no address, and so cannot know whose letter came back. */}
      {name !== null && (
        <ActButton
          about={label}
          isPending={comeBack.isPending}
          onPress={() => comeBack.press({ letter: id })}
        >
          It came back
        </ActButton>
      )}
      <ActProblems acts={[comeBack]} />
    </li>
  )
}
