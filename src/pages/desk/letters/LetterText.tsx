import type { Letter } from '../../../client/desk/letters.ts'
import { LongText } from '../kit/LongText.tsx'
import { isOfPlace, partsOf, placeWords } from './letters.ts'

/** What a letter says, and which placeholders it cannot fill. */
export function LetterText({
  text,
}: {
  text: Pick<Letter, 'subject' | 'body' | 'missing' | 'unknown' | 'is_long'>
}) {
  const { subject, body, missing, unknown, is_long: isLong } = text
  const blank = missing.filter((name) => !isOfPlace(name))
  return (
    <>
      <div className="letter">
        <p className="subject">
          <span className="visually-hidden">Subject: </span>
          <Filled text={subject} />
        </p>
        <p className="body">
          <Filled text={body} />
        </p>
      </div>
      {isLong && (
        <p className="notice error">Filled in, it is longer than a letter may be. This is its beginning.</p>
      )}
      {blank.length > 0 && <p className="notice error">No answer to: {blank.join(', ')}</p>}
      {missing.length > blank.length && (
        <p className="notice error">
          They are not asked whether they come: they are not accepted, or the last day to answer is over. In
          their application that day can be moved (“Kept until”).
        </p>
      )}
      {unknown.length > 0 && <p className="notice error">There is no placeholder: {unknown.join(', ')}</p>}
    </>
  )
}

/** A text with words in place of the placeholders that are filled in when it is handed over. */
function Filled({ text }: { text: string }) {
  return partsOf(text).map((part, place) =>
    place % 2 === 1 && isOfPlace(part) ? (
      // The parts change only with the text, all at once.
      // oxlint-disable-next-line react/no-array-index-key
      <span key={place} className="filled-later">
        {placeWords[part]}
      </span>
    ) : (
      // oxlint-disable-next-line react/no-array-index-key
      part !== '' && <LongText key={place} text={part} />
    ),
  )
}
