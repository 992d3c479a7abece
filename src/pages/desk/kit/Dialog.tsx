import { useRef, useState, type ReactNode } from 'react'
import { flushSync } from 'react-dom'

import { Announcement } from './announce.tsx'
import { Button } from './Button.tsx'
import { useKeys } from './useKeys.ts'

/** The id of the title of the open dialog. Only one is open at a time. */
const titleId = 'dialog-title'

interface DialogProps {
  /** The words of the button that opens it, and an optional shortcut key. */
  button: string
  openKey?: string
  buttonClass?: string
  /** The thing that the button is about, if several buttons share the words. */
  about?: string | undefined
  isOff?: boolean
  isPending?: boolean
  className?: string
  /** Called before it opens. Returns false if there is something to correct first. */
  onOpen?: () => boolean | void
  /** Called after it has closed. The button that opens it must not disappear before this call. */
  onClosed?: () => void
  /** Returns the content, usually a `DialogForm`, which calls `close` at its end. It is mounted only while the dialog is open. */
  children: (close: () => void) => ReactNode
}

/** A button and the dialog that it opens. Closing the dialog discards its input. */
export function Dialog(props: DialogProps) {
  const { button, openKey, buttonClass = 'control-quiet', about, isOff, isPending, className } = props
  const { onOpen, onClosed, children } = props
  const dialog = useRef<HTMLDialogElement>(null)
  const [isOpen, setIsOpen] = useState(false)
  const open = () => {
    if (onOpen?.() === false) return
    // The content is rendered before the dialog opens, so that its first field gets the focus.
    flushSync(() => setIsOpen(true))
    dialog.current?.showModal()
  }
  useKeys(openKey === undefined ? {} : { [openKey]: open })
  return (
    <>
      <Button className={buttonClass} {...{ about, isOff, isPending }} aria-haspopup="dialog" onPress={open}>
        {button}
      </Button>
      <dialog
        ref={dialog}
        aria-labelledby={titleId}
        className={className}
        onClose={() => {
          // The event is asynchronous: the dialog may be open again.
          if (dialog.current?.open) return
          setIsOpen(false)
          onClosed?.()
        }}
      >
        {isOpen && (
          <>
            <Content render={children} close={() => dialog.current?.close()} />
            <Announcement />
          </>
        )}
      </dialog>
    </>
  )
}

function Content({ render, close }: { render: DialogProps['children']; close: () => void }) {
  return render(close)
}

/** The properties of a dialog's content. */
export interface DialogContentProps {
  title: ReactNode
  /** Closes the dialog, and the words of the button for it. */
  close: () => void
  closeWords?: string
  /** What failed, above the buttons, which stay in sight. */
  problem?: ReactNode
  /** The button beside the close button. */
  button?: ReactNode
  children: ReactNode
}

/** The content of a dialog: its title, and at its foot the button that closes it. */
export function DialogContent(props: DialogContentProps) {
  const { title, close, closeWords = 'Close', problem, button, children } = props
  return (
    <>
      <h2 id={titleId}>{title}</h2>
      {children}
      <div className="layout-row">
        {problem}
        <Button onPress={close}>{closeWords}</Button>
        {button}
      </div>
    </>
  )
}

interface ConfirmationProps extends Omit<DialogContentProps, 'button'> {
  /** The words of the button that confirms. */
  confirm: string
  onConfirm: () => void
}

/**
 * The content of a dialog that asks before something that cannot be undone. The button that only closes it has the focus, so that
 * Enter pressed twice does nothing.
 */
export function Confirmation({ confirm, onConfirm, ...content }: ConfirmationProps) {
  const press = () => {
    content.close()
    onConfirm()
  }
  return (
    <DialogContent
      {...content}
      button={
        <Button data-kind="danger" onPress={press}>
          {confirm}
        </Button>
      }
    />
  )
}
