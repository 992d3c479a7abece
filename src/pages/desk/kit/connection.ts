import { onlineManager } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'

import { RefusedCall } from '../../../client/rest.ts'
import { OfflineError } from '../../../client/session.ts'

// By default TanStack Query trusts the browser, which reports offline even when a server on this machine responds.
onlineManager.setEventListener(() => undefined)

/** Updates the connection state after a call, by its error. Queries refetch when a server responds again. */
export function noteConnection(error?: unknown): void {
  if (error instanceof OfflineError) onlineManager.setOnline(false)
  // A refusal is a response, and so is a proxy's error page.
  if (error === undefined || error instanceof RefusedCall || error instanceof SyntaxError)
    onlineManager.setOnline(true)
}

const subscribe = (listener: () => void) => onlineManager.subscribe(listener)
const isOffline = () => !onlineManager.isOnline()

/** Whether a call failed because the browser was offline, and no later call got a response. */
export function useIsOffline(): boolean {
  return useSyncExternalStore(subscribe, isOffline, isOffline)
}
