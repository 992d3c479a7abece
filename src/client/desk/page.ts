import type { PageText, PageWords } from '../../application/page-words.ts'
import type { GeneralHistoryEntry } from './retreat.ts'

/** What the applicants' page says, and what it could show. */
export interface PageSettings {
  /** The number of changes. A change must name the version that the organiser saw. */
  version: number
  /** Every text; blank for the default. */
  texts: Record<PageText, string>
  /** Whether the page shows the days, the venue and the time at which the door closes, if they are set. */
  shown: ShownFacts
  /** These facts themselves, as far as they are known, whether the page shows them or not. */
  facts: Pick<PageWords, 'starts_on' | 'ends_on' | 'venue' | 'closes_on' | 'closes_at' | 'zone'>
  /** What the page says now, without an operator's settings. */
  page: PageWords
  /** The last change, as a list of at most one entry. */
  history: GeneralHistoryEntry[]
}

/** Which facts that are kept elsewhere the page shows. */
export interface ShownFacts {
  days: boolean
  venue: boolean
  closing: boolean
}
