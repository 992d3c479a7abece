import { onlineManager } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'

import type { CallDesk } from '../../../client/desk.ts'
import { RefusedCall } from '../../../client/rest.ts'
import { OfflineError } from '../../../client/session.ts'

// By default TanStack Query trusts the browser, which reports offline even when a server on this machine responds.
onlineManager.setEventListener(() => undefined)

/** Wraps the calls of the desk so that each one updates the connection state. Queries refetch when a server responds again. */
export function watchConnection(call: CallDesk): CallDesk {
  return async (name, args, signal, delays) => {
    try {
      const response = await call(name, args, signal, delays)
      onlineManager.setOnline(true)
      return response
    } catch (error) {
      if (error instanceof OfflineError) onlineManager.setOnline(false)
      // A refusal is a response, and so is a proxy's error page.
      if (error instanceof RefusedCall || error instanceof SyntaxError) onlineManager.setOnline(true)
      throw error
    }
  }
}

const subscribe = (listener: () => void) => onlineManager.subscribe(listener)
const isOffline = () => !onlineManager.isOnline()

/** Whether a call failed because the browser was offline, and no later call got a response. */
export function useIsOffline(): boolean {
  return useSyncExternalStore(subscribe, isOffline, isOffline)
}
