import type { Letter } from '../../../client/desk.ts'
import { LongText } from '../kit/LongText.tsx'

/** What a letter says, and which placeholders it cannot fill. */
export function LetterText({
  text,
}: {
  text: Pick<Letter, 'subject' | 'body' | 'missing' | 'unknown' | 'is_long'>
}) {
  const { subject, body, missing, unknown, is_long: isLong } = text
  return (
    <>
      <div className="letter">
        <p className="subject">
          <span className="visually-hidden">Subject: </span>
          <LongText text={subject} />
        </p>
        <p className="body">
          <LongText text={body} />
        </p>
      </div>
      {isLong && (
        <p className="notice error">Filled in it is longer than a letter may be: this is its beginning.</p>
      )}
      {missing.length > 0 && <p className="notice error">No answer to: {missing.join(', ')}</p>}
      {unknown.length > 0 && <p className="notice error">There is no placeholder: {unknown.join(', ')}</p>}
    </>
  )
}
