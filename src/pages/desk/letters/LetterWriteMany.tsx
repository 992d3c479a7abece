import { Dialog } from '../kit/Dialog.tsx'
import type { SeenApplication } from '../data/decision-state.ts'
import { LetterWriteManyForm } from './LetterWrite.tsx'

interface LetterWriteManyProps {
  /** The applicants selected when the dialog opened, even if the list changes; empty while the dialog is closed. */
  recipients: readonly SeenApplication[]
  onOpen: () => void
  onClosed: () => void
}

/** A dialog that drafts letters to several applicants. Drafts are read before they are sent. */
export function LetterWriteMany({ recipients, onOpen, onClosed }: LetterWriteManyProps) {
  return (
    <Dialog
      button="Draft letters…"
      buttonClass="control-quiet decisions-write letters-write"
      onOpen={onOpen}
      onClosed={onClosed}
    >
      {(close) => <LetterWriteManyForm recipients={recipients} close={close} />}
    </Dialog>
  )
}
