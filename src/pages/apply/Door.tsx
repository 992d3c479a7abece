import { closedTitle, repeatText } from './copy.ts'

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
      {sentence !== `${closedTitle}.` && <p dir="auto">{withLinks(sentence)}</p>}
      {mayRepeat && <p>{repeatText}</p>}
    </div>
  )
}

/** Addresses of pages and of emails. What ends a sentence or a bracket does not belong to one. */
const address = /(https?:\/\/[^\s\p{Cf}<>"]*[^\s\p{Cf}\p{P}<>"]\/?|[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,})/iu

/** Splits a text into its texts and its links. */
function withLinks(text: string) {
  return text.split(address).map((part, index) => {
    // The texts between the addresses have even indexes.
    if (index % 2 === 0) return part
    const href = part.includes('://') ? part : `mailto:${part}`
    return URL.canParse(href) ? (
      <a href={href} key={index}>
        {part}
      </a>
    ) : (
      part
    )
  })
}
