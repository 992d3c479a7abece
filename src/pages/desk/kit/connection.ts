import { onlineManager } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'

import type { CallDesk } from '../../../client/desk.ts'
import { RefusedCall } from '../../../client/rest.ts'
import { OfflineError } from '../../../client/session.ts'

// By default the library believes the browser, which says that it is offline also where a server on the same machine responds.
onlineManager.setEventListener(() => undefined)

/** Calls, and notes whether anybody responds. When that is so again, what is shown is read again. */
export function watchConnection(call: CallDesk): CallDesk {
  return async (name, given, signal, pauses) => {
    try {
      const response = await call(name, given, signal, pauses)
      onlineManager.setOnline(true)
      return response
    } catch (error) {
      if (error instanceof OfflineError) onlineManager.setOnline(false)
      // A refusal is a response, and so is what a proxy says.
      if (error instanceof RefusedCall || error instanceof SyntaxError) onlineManager.setOnline(true)
      throw error
    }
  }
}

const subscribe = (listener: () => void) => onlineManager.subscribe(listener)
const isOffline = () => !onlineManager.isOnline()

/** Whether the browser was offline when a call got no response last, and none got one since. */
export function useIsOffline(): boolean {
  return useSyncExternalStore(subscribe, isOffline, isOffline)
}
