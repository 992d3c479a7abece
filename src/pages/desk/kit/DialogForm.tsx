import { useEffect, useId } from 'react'

import { Button } from './Button.tsx'
import { ActProblems } from './ActProblems.tsx'
import { DialogContent, type DialogContentProps } from './Dialog.tsx'
import { Form } from './Field.tsx'

interface DialogFormProps extends Omit<DialogContentProps, 'button' | 'problem'> {
  /** The act, whose failure is shown. It is cancelled when the dialog closes. */
  act: { isPending: boolean; error: Error | null; failure: string; cancel: () => void }
  /** The words of the submit button. */
  button: string
  isOff?: boolean
  /** Whether the act cannot be undone. */
  isDanger?: boolean
  onSend: () => void
}

/** The content of a dialog with a form. */
export function DialogForm(props: DialogFormProps) {
  const { act, button, isOff, isDanger, onSend, closeWords = 'Cancel', children, ...content } = props
  const id = useId()
  const { cancel } = act
  useEffect(() => cancel, [cancel])
  return (
    <DialogContent
      {...content}
      closeWords={closeWords}
      problem={<ActProblems acts={[act]} />}
      button={
        <Button form={id} isOff={isOff} isPending={act.isPending} data-kind={isDanger && 'danger'}>
          {button}
        </Button>
      }
    >
      <Form id={id} onSend={onSend}>
        {children}
      </Form>
    </DialogContent>
  )
}
