import { useState } from 'react'

import type { Seen } from '../decisions/judge.ts'
import { Dialog } from '../kit/Dialog.tsx'
import { digits } from '../kit/format.ts'
import { lazyScreen, PartNotLoaded } from '../kit/lazyScreen.tsx'

const LetterWriteManyForm = lazyScreen(async () => {
  const { LetterWriteManyForm: Shown } = await import('./LetterWrite.tsx')
  return { default: Shown }
}, PartNotLoaded)

/** Loads what its dialog shows. */
export const loadLetterWriteMany = LetterWriteManyForm.load

interface LetterWriteManyProps {
  seen: readonly Seen[]
  onOpen: () => void
  onClosed: () => void
}

/** Drafts letters to several applicants at once, which are read before they are sent. */
export function LetterWriteMany({ seen, onOpen, onClosed }: LetterWriteManyProps) {
  // Those who were selected when it was opened, whatever happens to the list behind it.
  const [written, setWritten] = useState<readonly Seen[]>([])
  const whom = written.length === 1 ? written[0]?.name : `${digits(written.length)} applicants`
  return (
    <Dialog
      button="Write…"
      buttonClass="quiet write-many"
      title={`Write to ${whom}`}
      close="Close"
      onOpen={() => {
        setWritten(seen)
        onOpen()
      }}
      onClosed={onClosed}
    >
      <LetterWriteManyForm applications={written.map(({ id }) => id)} />
    </Dialog>
  )
}
