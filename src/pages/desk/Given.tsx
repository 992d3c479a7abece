import { useMemo, useState } from 'react'

import { piecesOf } from './pieces.ts'

/**
 * What applicants wrote, as they wrote it and turned in no direction by what stands beside it. Of what is longer than
 * anybody writes the beginning, and all of it when that is asked for.
 */
export function Given({ text }: { text: string }) {
  const [isWhole, setIsWhole] = useState(false)
  const pieces = useMemo(() => piecesOf(text), [text])
  if (pieces.length === 1) return <bdi>{text}</bdi>
  return (
    <>
      <bdi className="pieces" tabIndex={-1} ref={isWhole ? focus : undefined}>
        {(isWhole ? pieces : pieces.slice(0, 1)).map((piece, place) => (
          // They change with the text alone, all at once.
          // oxlint-disable-next-line react/no-array-index-key
          <span key={place}>{piece}</span>
        ))}
        {!isWhole && '…'}
      </bdi>
      {!isWhole && (
        <button className="quiet" onClick={() => setIsWhole(true)}>
          Show all {text.length.toLocaleString('en')} characters
        </button>
      )}
    </>
  )
}

/** The button that was pressed goes. */
function focus(element: HTMLElement | null) {
  element?.focus({ preventScroll: true })
}
