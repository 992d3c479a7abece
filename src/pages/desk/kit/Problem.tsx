import type { ReactNode } from 'react'

import { MissingScript } from '../../../client/missing-script.ts'
import { RefusedCall } from '../../../client/rest.ts'
import { OfflineError, SignedOutError } from '../../../client/session.ts'
import { Button } from './Button.tsx'
import { useIsOffline } from './connection.ts'

interface ProblemProps {
  error: Error | null | undefined
  /** A sentence that says what has not happened because of it: a server's own words may say nothing. */
  said?: string
  /** Tries it again. */
  onTryAgain?: (() => void) | undefined
}

/** What went wrong, if anything did. */
export function Problem({ error, said = 'Not loaded.', onTryAgain }: ProblemProps) {
  if (!error) return null
  const help = isOutdated(error) ? reload : { button: 'Try again', onPress: onTryAgain }
  return (
    <Alert {...help}>
      {said && `${said} `}
      {sentenceOf(error)}
    </Alert>
  )
}

/** Why what is shown could not be read again. Offline, the notice over all screens says so. */
export function StaleProblem(props: ProblemProps) {
  const { error } = props
  const isSaid = useIsOffline() && isUnreachable(error)
  // When the notice goes, it is read again.
  return isSaid || error instanceof OfflineError ? null : <Problem {...props} />
}

export interface AlertProps {
  /** What the button says that may help, and does. */
  button: string
  onPress: (() => void) | undefined
  children: ReactNode
}

/** A sentence on what went wrong. */
export function Alert({ button, onPress, children }: AlertProps) {
  return (
    <div className="layout-notice error" role="alert">
      <p>{children}</p>
      {onPress && <Button onPress={onPress}>{button}</Button>}
    </div>
  )
}

/** What helps a page that is older than its server. */
export const reload = { button: 'Reload', onPress: () => location.reload() }

/** Whether this page is older than its server, which does not know its calls any more, or has its scripts no more. */
export function isOutdated(error: unknown) {
  return error instanceof MissingScript || (error instanceof RefusedCall && error.code === 'PGRST202')
}

/** Said where another server answers at the desk's address. */
export const foreignAnswer =
  'Another server answered at the address of this desk. Please ask whoever runs this site.'

/** Whether a call may have been done though nothing says so. */
export function isUncertain(error: unknown): boolean {
  return isUnreachable(error) && !(error instanceof OfflineError)
}

/** Whether nobody answered: there is no connection, or nothing at the other end. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof TypeError || isTimeout(error)
}

function isTimeout(error: unknown) {
  return error instanceof DOMException && error.name === 'TimeoutError'
}

/** What went wrong, in a sentence for an organiser. */
export function sentenceOf(error: unknown): string {
  if (error instanceof OfflineError) return error.message
  if (error instanceof TypeError) return 'The server could not be reached. Please check your connection.'
  if (isTimeout(error)) return 'No answer came in time. Please check your connection.'
  if (error instanceof RefusedCall && error.code === 'PGRST202')
    return 'The desk was updated meanwhile. Please reload this page.'
  // An answer that is no JSON, or has no code, comes from another server at the address.
  if (error instanceof SyntaxError || (error instanceof RefusedCall && !error.code)) return foreignAnswer
  if (error instanceof Error && error.message !== '') return error.message
  return 'Something went wrong. Please try again.'
}

/** Said of an unexpected error, which the console has in full. */
export function unforeseen(error: unknown): string {
  reportError(error)
  return error instanceof MissingScript ? error.message : 'Something went wrong. Please try again.'
}

/** Whether the database says that something has changed since whoever acts saw it. */
export function isConflict(error: unknown): boolean {
  return error instanceof RefusedCall && error.code === 'PT409'
}

/** Whether the backend says that whoever calls may not: their session or their right ended. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof SignedOutError) return true
  return error instanceof RefusedCall && /^(42501|PGRST30[0-3])$/.test(error.code)
}
