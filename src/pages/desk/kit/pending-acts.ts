/** The acts that are pending. Closing the page would lose them. */
export const pendingActs = new Set<AbortController>()
