import { useMemo, useState } from 'react'

import { Button } from './Button.tsx'
import { useMedia } from './useMedia.ts'

/**
 * A text of an applicant, unchanged, in a direction of writing of its own. Of a text that is longer than anybody writes it
 * shows the beginning, and all of it when a button is pressed.
 */
export function LongText({ text }: { text: string }) {
  const [isWhole, setIsWhole] = useState(false)
  // On paper there is nothing to press.
  const isPrinting = useMedia('print')
  const pieces = useMemo(() => piecesOf(text), [text])
  if (pieces.length === 1) return <bdi>{text}</bdi>
  return (
    <>
      <bdi className="layout-pieces" tabIndex={-1} ref={isWhole ? focus : undefined}>
        {(isWhole || isPrinting ? pieces : pieces.slice(0, 1)).map((piece, place) => (
          // The pieces change only with the text, all at once.
          // oxlint-disable-next-line react/no-array-index-key
          <span key={place}>{piece}</span>
        ))}
        {!isWhole && !isPrinting && '…'}
      </bdi>
      {!isWhole && (
        <Button onPress={() => setIsWhole(true)}>
          Show all {text.length.toLocaleString('en')} characters
        </Button>
      )}
    </>
  )
}

/** Takes the focus, since the pressed button disappears. */
function focus(element: HTMLElement | null) {
  element?.focus({ preventScroll: true })
}

/** Characters that are laid out together: where fonts and scripts alternate, the time that browsers take grows with the square. */
export const pieceLength = 4_000
/** Characters that a line end counts as: it takes as much of the screen. */
const lineEnd = 40

/**
 * Cuts a text into pieces that are quick to show; all of them together are the text.
 *
 * @returns One piece, unless the text is longer than anybody writes.
 */
export function piecesOf(text: string): string[] {
  const pieces = []
  let piece = ''
  let length = 0
  for (const character of text) {
    piece += character
    length += character === '\n' ? lineEnd : 1
    // Between two words, where two words meet soon enough.
    if (length < pieceLength || (length < pieceLength * 1.2 && !/\s/.test(character))) continue
    pieces.push(piece)
    piece = ''
    length = 0
  }
  return piece === '' && pieces.length > 0 ? pieces : [...pieces, piece]
}
