import type { CallDesk, Letter } from '../../../client/desk.ts'
import { announce } from '../announcement.ts'
import { sentenceOf } from '../messages.ts'
import { focusNext } from './focus-next.ts'
import { useLetterAct } from './letters.ts'
import { mailProgramLink } from './mail-program.ts'
import { isSendable, nameOfLetter } from './words.ts'

/** Opens a draft in the organiser's own mail program, and notes that it was sent from there. */
export function ByHand({ callDesk, letter }: { callDesk: CallDesk; letter: Letter }) {
  const name = nameOfLetter(letter)
  const noted = useLetterAct(
    (_given: void, signal) => callDesk('desk_sent_by_hand', { letter: letter.id, seen: letter.seen }, signal),
    () => {
      focusNext(letter.id)
      announce(`${name}: sent by hand`)
    },
  )
  const address = isSendable(letter) ? mailProgramLink(letter) : undefined
  if (address === undefined) return null
  return (
    <>
      <a aria-label={`Open in mail program: ${name}`} className="button" href={address}>
        Open in mail program
      </a>
      <button
        aria-label={`I sent it: ${name}`}
        className="quiet"
        onClick={() => !noted.isPending && noted.mutate(undefined)}
      >
        I sent it
      </button>
      {noted.error && <p role="alert">{sentenceOf(noted.error)}</p>}
    </>
  )
}
