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
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <button
        className="quiet write-many"
        aria-haspopup="dialog"
        onClick={() => {
          setIsOpen(true)
          dialog.current?.showModal()
        }}
      >
        Write…
      </button>
      <dialog ref={dialog} aria-labelledby="write-title" onClose={() => setIsOpen(false)}>
        <h2 id="write-title">
          Write to {seen.length === 1 ? seen[0]?.name : `${seen.length.toLocaleString('en')} applicants`}
        </h2>
        {isOpen && <WriteManyForm callDesk={callDesk} applications={seen.map(({ id }) => id)} />}
        <form method="dialog">
          <button className="quiet">Close</button>
        </form>
      </dialog>
    </>
  )
}
