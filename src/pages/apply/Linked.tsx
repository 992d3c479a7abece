import { linked } from '../../application/linked-text.ts'

/** A plain text, with its addresses as links. */
export function Linked({ text }: { text: string }) {
  return linked(text).map((part) =>
    typeof part === 'string' ? (
      part
    ) : (
      <a key={part.href} href={part.href}>
        {part.text}
      </a>
    ),
  )
}
