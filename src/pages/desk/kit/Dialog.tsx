import { createContext, useId, useImperativeHandle, useRef, useState, type ReactNode, type Ref } from 'react'
import { flushSync } from 'react-dom'

import { Announcement } from './announce.tsx'
import { Button } from './Button.tsx'
import { useKeys } from './useKeys.ts'

/** The foot of the surrounding dialog. It holds the close button and the form's button (`DialogForm`). */
export const DialogFoot = createContext<HTMLElement | null>(null)

/** The ref of a dialog. */
export interface DialogHandle {
  close: () => void
}

interface DialogProps {
  ref?: Ref<DialogHandle>
  /** The words of the button that opens it, and an optional shortcut key. */
  button: string
  openKey?: string
  buttonClass?: string
  isOff?: boolean
  title: ReactNode
  className?: string
  /** The words of the close button. */
  close?: string
  onOpen?: () => void
  /** Called when it closes; twice if the close button was pressed. */
  onClose?: () => void
  /** Called after it has closed. The button that opens it must not disappear before this call. */
  onClosed?: () => void
  /** Rendered only while it is open. */
  children: ReactNode
}

/** A button and the dialog that it opens. Closing the dialog discards its input. */
export function Dialog(props: DialogProps) {
  const {
    button,
    openKey = '',
    buttonClass = 'control-quiet',
    isOff,
    title,
    className,
    close = 'Cancel',
  } = props
  const { ref, onOpen, onClose, onClosed, children } = props
  const dialog = useRef<HTMLDialogElement>(null)
  const [isOpen, setIsOpen] = useState(false)
  const [foot, setFoot] = useState<HTMLElement | null>(null)
  const id = useId()
  const open = () => {
    onOpen?.()
    // The content is rendered before the dialog opens, so that its first field gets the focus.
    flushSync(() => setIsOpen(true))
    dialog.current?.showModal()
  }
  useKeys({ [openKey]: open })
  useImperativeHandle(ref, () => ({ close: () => dialog.current?.close() }), [])
  return (
    <>
      <Button className={buttonClass} isOff={isOff} aria-haspopup="dialog" onPress={open}>
        {button}
      </Button>
      <dialog
        ref={dialog}
        aria-labelledby={id}
        className={className}
        onClose={() => {
          // The event is asynchronous: the dialog may be open again.
          if (dialog.current?.open) return
          setIsOpen(false)
          onClose?.()
          onClosed?.()
        }}
      >
        {isOpen && (
          <>
            <h2 id={id}>{title}</h2>
            <DialogFoot value={foot}>{children}</DialogFoot>
            <div className="layout-row" ref={setFoot}>
              <form method="dialog" onSubmit={onClose}>
                <button className="control-quiet">{close}</button>
              </form>
            </div>
            <Announcement />
          </>
        )}
      </dialog>
    </>
  )
}
