import { linked } from '../../application/linked-text.ts'

/** A plain text, with its addresses as links. */
export function Linked({ text }: { text: string }) {
  return linked(text).map((part, index) =>
    typeof part === 'string' ? (
      part
    ) : (
      <a key={index} href={part.href}>
        {part.text}
      </a>
    ),
  )
}
