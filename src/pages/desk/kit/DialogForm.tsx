import { useContext, useId, type ReactNode } from 'react'
import { createPortal } from 'react-dom'

import { ActButton } from './ActButton.tsx'
import { DialogFoot } from './Dialog.tsx'
import { Form } from './Field.tsx'

interface DialogFormProps {
  /** The words of the submit button. */
  act: string
  isOff?: boolean
  isPending: boolean
  /** Whether its act cannot be undone. */
  isDanger?: boolean
  onSend: () => void
  children: ReactNode
}

/** The form of a dialog. Its button appears in the dialog's foot. */
export function DialogForm({ act, isOff, isPending, isDanger, onSend, children }: DialogFormProps) {
  const id = useId()
  const foot = useContext(DialogFoot)
  return (
    <>
      <Form id={id} onSend={onSend}>
        {children}
      </Form>
      {foot &&
        createPortal(
          <ActButton form={id} isOff={isOff} isPending={isPending} data-kind={isDanger && 'danger'}>
            {act}
          </ActButton>,
          foot,
        )}
    </>
  )
}
