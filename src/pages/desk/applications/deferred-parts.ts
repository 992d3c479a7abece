import { useEffect, useState } from 'react'

import { afterFrame } from '../kit/after-frame.ts'
import { whenConnected } from '../kit/lazy-screen.tsx'

/** The parts that load after the list. */
export type DeferredParts = typeof import('./deferred.ts')

/**
 * Loads the parts after the list has been painted.
 *
 * @returns `isMissing`: whether their script could not be loaded, since a server update removes old scripts.
 */
export function useDeferredParts(isListShown: boolean): {
  parts: DeferredParts | undefined
  isMissing: boolean
} {
  const [parts, setParts] = useState<DeferredParts>()
  const [isMissing, setIsMissing] = useState(false)
  useEffect(() => {
    if (!isListShown) return undefined
    return afterFrame(() => {
      whenConnected(() => import('./deferred.ts')).then(setParts, (error: unknown) => {
        reportError(error)
        setIsMissing(true)
      })
    })
  }, [isListShown])
  return { parts, isMissing }
}
