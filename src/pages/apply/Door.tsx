import { closedTitle, repeatText } from './copy.ts'
import { Linked } from './Linked.tsx'

/**
 * The heading and the sentence of a closed door, in place of the badge.
 *
 * @param props.sentence The sentence for applicants. The default only repeats the heading, so it is left out.
 * @param props.mayRepeat Whether an earlier send may have been stored, so that the form can be sent again.
 */
export function Door({ sentence, mayRepeat = false }: { sentence: string; mayRepeat?: boolean }) {
  return (
    <div className="door">
      <h2>{closedTitle}</h2>
      {sentence !== `${closedTitle}.` && (
        <p dir="auto">
          <Linked text={sentence} />
        </p>
      )}
      {mayRepeat && <p>{repeatText}</p>}
    </div>
  )
}
