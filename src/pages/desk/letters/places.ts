import type { OutboxState } from '../../../client/desk.ts'
import { placeOf, useFragment } from '../fragment.ts'

/** The address of a screen of letters. What organisers named may have any sign in it. */
export function draftsOf(occasion: string): string {
  return `/letters/drafts/${encodeURIComponent(occasion)}`
}

export function templateOf(occasion: string): string {
  return `/letters/templates/${encodeURIComponent(occasion)}`
}

export function outboxOf(state: OutboxState): string {
  return `/letters/outbox/${encodeURIComponent(state)}`
}

/** What the address names last, as it was before it became an address: the router has undone some of it already. */
export function useLastPart(): string {
  const part = placeOf(useFragment()).path.split('/').at(-1) ?? ''
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
