import type { ReactNode } from 'react'

import { MissingScriptError } from '../../../client/missing-script.ts'
import { RefusedCall } from '../../../client/rest.ts'
import { OfflineError, SignedOutError, UnsentError } from '../../../client/session.ts'
import { Button } from './Button.tsx'
import { useIsOffline } from './connection.ts'

interface ProblemProps {
  error: Error | null | undefined
  /** The sentence for the failure. The server's own message may be unclear. */
  message?: string
  /** Whether data that was read before is still shown. */
  isStale?: boolean
  /** Retries. */
  onTryAgain?: (() => void) | undefined
}

/** A message about an error; nothing if there is none. */
export function Problem({ error, message = 'Not loaded.', isStale = false, onTryAgain }: ProblemProps) {
  // While the offline notice is shown, data that is out of date needs no message. It is refetched when the connection returns.
  const isNoticeShown = useIsOffline() && isUnreachable(error)
  if (!error || (isStale && (isNoticeShown || error instanceof OfflineError))) return null
  const help = isOutdated(error) ? reload : { button: 'Try again', onPress: onTryAgain }
  return (
    <Alert {...help}>
      {message && `${message} `}
      {sentenceOf(error)}
    </Alert>
  )
}

/** The properties of an alert. */
export interface AlertProps {
  /** The words of the button that may help. */
  button?: string
  onPress?: (() => void) | undefined
  children: ReactNode
}

/** A message about a problem, with a button that may help. */
export function Alert({ button, onPress, children }: AlertProps) {
  return (
    <div className="layout-notice error" role="alert">
      <p>{children}</p>
      {onPress && <Button onPress={onPress}>{button}</Button>}
    </div>
  )
}

/** The button for a page that is older than its server. */
export const reload = { button: 'Reload', onPress: () => location.reload() }

/** Whether the page is older than its server, which no longer has the page's calls or scripts. */
export function isOutdated(error: unknown) {
  return error instanceof MissingScriptError || (error instanceof RefusedCall && error.code === 'PGRST202')
}

/** The sentence for a response that does not come from the desk's server. */
export const foreignServerMessage =
  'Another server responded at the address of this desk. Ask the person who runs this site.'

/** Whether a call may have succeeded although no response came. */
export function isUncertain(error: unknown): boolean {
  return isUnreachable(error) && !(error instanceof UnsentError)
}

/** Whether no response came: the connection failed or timed out. */
function isUnreachable(error: unknown): boolean {
  return error instanceof TypeError || isTimeout(error)
}

/** Whether the same read may succeed soon: no response came, or another program responded, as proxies do during a restart. */
export function isTemporary(error: unknown): boolean {
  return (
    isUnreachable(error) ||
    error instanceof SyntaxError ||
    (error instanceof RefusedCall && (error.status >= 500 || !error.code))
  )
}

function isTimeout(error: unknown) {
  return error instanceof DOMException && error.name === 'TimeoutError'
}

/** The sentence for an error, for organisers. */
export function sentenceOf(error: unknown): string {
  if (error instanceof OfflineError) return error.message
  if (error instanceof TypeError) return 'The server could not be reached. Please check your connection.'
  if (isTimeout(error)) return 'The server did not respond in time. Please check your connection.'
  if (error instanceof RefusedCall && error.code === 'PGRST202')
    return 'The desk was updated meanwhile. Please reload this page.'
  // A response without JSON or without a code comes from another server at this address.
  if (error instanceof SyntaxError || (error instanceof RefusedCall && !error.code))
    return foreignServerMessage
  if (error instanceof Error && error.message !== '') return error.message
  return 'Something went wrong. Please try again.'
}

/** The sentence for an unexpected error, which is also logged in the console. */
export function reportUnexpected(error: unknown): string {
  reportError(error)
  return error instanceof MissingScriptError ? error.message : 'Something went wrong. Please try again.'
}

/** Whether the database refused a change because somebody else changed the data first. */
export function isConflict(error: unknown): boolean {
  return error instanceof RefusedCall && error.code === 'PT409'
}

/** Whether the backend refused a call because the session or the permission has ended. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof SignedOutError) return true
  return error instanceof RefusedCall && /^(42501|PGRST30[0-3])$/.test(error.code)
}
