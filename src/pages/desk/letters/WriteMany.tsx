import { useRef, useState } from 'react'

import type { CallDesk } from '../../../client/desk.ts'
import type { Seen } from '../judging/judge.ts'
import { WriteManyForm } from './WriteManyForm.tsx'

interface WriteManyProps {
  callDesk: CallDesk
  /** Whom the letters are for. */
  seen: readonly Seen[]
}

/** Drafts letters to several applicants at once, which are read before they are sent. */
export function WriteMany({ callDesk, seen }: WriteManyProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  // Whoever was selected when it was opened, whatever becomes of the list behind it.
  const [written, setWritten] = useState<readonly Seen[] | null>(null)
  return (
    <>
      <button
        className="quiet write-many"
        aria-haspopup="dialog"
        onClick={() => {
          setWritten(seen)
          dialog.current?.showModal()
        }}
      >
        Write…
      </button>
      <dialog ref={dialog} aria-labelledby="write-title" onClose={() => setWritten(null)}>
        <h2 id="write-title">
          Write to{' '}
          {written?.length === 1 ? written[0]?.name : `${written?.length.toLocaleString('en')} applicants`}
        </h2>
        {written && <WriteManyForm callDesk={callDesk} applications={written.map(({ id }) => id)} />}
        <form method="dialog">
          <button className="quiet">Close</button>
        </form>
      </dialog>
    </>
  )
}
