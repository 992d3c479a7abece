import type { ReactNode } from 'react'

import { sentenceOf } from './messages.ts'

interface ProblemProps {
  error: Error | null | undefined
  /** A sentence that says what has not happened because of it. */
  said?: string
  /** Tries it again. */
  onTryAgain?: (() => void) | undefined
}

/** What went wrong, if anything did. */
export function Problem({ error, said, onTryAgain }: ProblemProps) {
  if (!error) return null
  return (
    <Alert button="Try again" onPress={onTryAgain}>
      {said && `${said} `}
      {sentenceOf(error)}
    </Alert>
  )
}

interface AlertProps {
  /** What the button says that may help, and does. */
  button: string
  onPress: (() => void) | undefined
  children: ReactNode
}

/** A sentence on what went wrong. */
export function Alert({ button, onPress, children }: AlertProps) {
  return (
    <div className="notice error" role="alert">
      <p>{children}</p>
      {onPress && (
        <button className="quiet" onClick={onPress}>
          {button}
        </button>
      )}
    </div>
  )
}
