import { useRef, useState, type ReactNode } from 'react'

import { ActButton } from './ActButton.tsx'
import { Button } from './Button.tsx'
import { focus, useOnHidden } from './focus.ts'

interface ConfirmButtonProps {
  children: string
  /** The thing that the button is about, if several buttons share the words. */
  about?: string | undefined
  /** The question, and the words of the buttons that confirm and cancel. */
  question: ReactNode
  confirm: string
  cancel: string
  isPending: boolean
  /** Called before the question is asked. Returns false if there is something to correct first. */
  mayAsk?: () => boolean
  onConfirm: () => void
}

/** A button that asks for confirmation. */
export function ConfirmButton({
  children,
  about,
  question,
  confirm,
  cancel,
  isPending,
  mayAsk = () => true,
  onConfirm,
}: ConfirmButtonProps) {
  const [isConfirming, setIsConfirming] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  useOnHidden(isConfirming, () => button.current?.focus())
  if (!isConfirming)
    return (
      <Button ref={button} about={about} onPress={() => setIsConfirming(mayAsk())}>
        {children}
      </Button>
    )
  return (
    <>
      <span>{question}</span>
      {/* This button takes the focus, so that pressing Enter twice only cancels. */}
      <Button ref={focus} onPress={() => setIsConfirming(false)}>
        {cancel}
      </Button>
      <ActButton isPending={isPending} onPress={onConfirm}>
        {confirm}
      </ActButton>
    </>
  )
}
