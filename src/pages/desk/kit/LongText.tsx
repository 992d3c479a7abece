import { useMemo, useState, type ReactNode } from 'react'

import { Button } from './Button.tsx'
import { formatNumber } from './format.ts'
import { useMedia } from './useMedia.ts'

interface LongTextProps {
  text: string
  /** Highlights words of the text. */
  highlight?: ((part: string) => ReactNode) | undefined
}

/**
 * A text by an applicant, unchanged, with its own writing direction. An unusually long text is cut off, with a button that
 * shows the whole text.
 */
export function LongText({ text, highlight = (part) => part }: LongTextProps) {
  const pieces = useMemo(() => piecesOf(text), [text])
  return pieces.length === 1 ? <bdi>{highlight(text)}</bdi> : <Pieces {...{ text, pieces, highlight }} />
}

interface PiecesProps {
  text: string
  highlight: (part: string) => ReactNode
  pieces: readonly string[]
}

function Pieces({ text, pieces, highlight }: PiecesProps) {
  const [isExpanded, setIsExpanded] = useState(false)
  // On paper, the whole text is shown, since nobody can press the button.
  const isPrinting = useMedia('print')
  return (
    <>
      <bdi className="layout-pieces" tabIndex={-1} ref={isExpanded ? focus : undefined}>
        {(isExpanded || isPrinting ? pieces : pieces.slice(0, 1)).map((piece, index) => (
          // The pieces change only when the whole text does.
          // oxlint-disable-next-line react/no-array-index-key
          <span key={index} className="layout-piece">
            {highlight(piece)}
          </span>
        ))}
        {!isExpanded && !isPrinting && '…'}
      </bdi>
      {!isExpanded && (
        <Button onPress={() => setIsExpanded(true)}>Show all {formatNumber(text.length)} characters</Button>
      )}
    </>
  )
}

/** Takes the focus, because the pressed button disappears. */
function focus(element: HTMLElement | null) {
  element?.focus({ preventScroll: true })
}

/** Characters per piece. For text of mixed fonts and scripts, the browser's layout time grows with the square of the length. */
export const pieceLength = 4_000
/** The number of characters that a line end counts as, because of its height. */
const lineEnd = 40

/**
 * Cuts a text into pieces that are quick to lay out. Joined, they are the text.
 *
 * @returns One piece, unless the text is unusually long.
 */
export function piecesOf(text: string): string[] {
  const pieces = []
  let piece = ''
  let length = 0
  for (const character of text) {
    piece += character
    length += character === '\n' ? lineEnd : 1
    // Cuts between two words if there is a space soon enough.
    if (length < pieceLength || (length < pieceLength * 1.2 && !/\s/.test(character))) continue
    pieces.push(piece)
    piece = ''
    length = 0
  }
  return piece === '' && pieces.length > 0 ? pieces : [...pieces, piece]
}
