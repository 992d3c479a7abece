import { createContext, useId, useImperativeHandle, useRef, useState, type ReactNode, type Ref } from 'react'
import { flushSync } from 'react-dom'

import { Button } from './Button.tsx'
import { useKeys } from './useKeys.ts'

/** The foot of the dialog around: the button that closes it, and beside it what its form does (`DialogForm`). */
export const DialogFoot = createContext<HTMLElement | null>(null)

/** Closes it. */
export interface DialogHandle {
  close: () => void
}

interface DialogProps {
  ref?: Ref<DialogHandle>
  /** What opens it: the button's words, and a key. */
  button: string
  openKey?: string
  buttonClass?: string
  isOff?: boolean
  title: ReactNode
  className?: string
  /** What the button says that closes it. */
  close?: string
  onOpen?: () => void
  onClose?: () => void
  /** Called once it is closed: only then its button may disappear. */
  onClosed?: () => void
  /** What stands in it for as long as it is open. */
  children: ReactNode
}

/** A button, and the dialog that it opens. What is entered in the dialog is lost when it is closed. */
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
          // The event comes a moment after the dialog closed, which may be open again by then.
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
          </>
        )}
      </dialog>
    </>
  )
}
