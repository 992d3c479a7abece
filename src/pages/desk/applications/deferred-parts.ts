import { afterFrame } from './after-frame.ts'
import { createLate } from '../kit/lazy-screen.tsx'

/** The parts that load after the list. */
export type DeferredParts = typeof import('./deferred.ts')

const parts = createLate(() => import('./deferred.ts'))

/** Loads the parts after the list has been painted. */
export const useDeferredParts = (isListShown: boolean) => parts.useLoaded(isListShown, afterFrame)
