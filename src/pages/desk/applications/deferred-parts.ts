/** The parts that load after the list. */
export type DeferredParts = typeof import('./deferred.ts')
