import { Dialog } from '../kit/Dialog.tsx'
import { formatNumber } from '../kit/format.ts'
import type { SeenApplication } from '../data/decision-state.ts'
import { lazyScreen, PartNotLoaded } from '../kit/Screen.tsx'

const LetterWriteManyForm = lazyScreen(
  async () => (await import('./LetterWrite.tsx')).LetterWriteManyForm,
  PartNotLoaded,
)

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
      title={
        recipients.length === 1
          ? `Draft a letter to ${recipients[0]?.name}`
          : `Draft letters to ${formatNumber(recipients.length)} applicants`
      }
      close="Close"
      onOpen={onOpen}
      onClosed={onClosed}
    >
      <LetterWriteManyForm applications={recipients.map(({ id }) => id)} />
    </Dialog>
  )
}
