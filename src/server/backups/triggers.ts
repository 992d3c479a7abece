import { applications, deliveries, history, statuses } from './manifest.ts'

/** What a restore does with a trigger. */
export interface Trigger {
  table: string
  name: string
  /** Whether it fires while rows come back; `without letters`: only where the backup is older than letters. */
  fires: boolean | 'without letters'
}

/** What a restore does with each trigger of the schema, and why. A new trigger gets a line here. */
export const triggers: readonly Trigger[] = [
  // The rows were taken once: limits and the door of today are for new ones.
  { table: applications, name: 'refuse_too_long', fires: false },
  { table: applications, name: 'keep_door', fires: false },
  // The backup has the deliveries, and receipts and notices went out when the rows came.
  { table: applications, name: 'enqueue_delivery', fires: false },
  { table: applications, name: 'then_announce', fires: false },
  // The search's words are computed from the answers, and are in no backup.
  { table: applications, name: 'keep_search_vectors', fires: true },
  { table: applications, name: 'keep_search_vectors_changed', fires: true },
  // An application that is erased again is listed again.
  { table: applications, name: 'remember_erasures', fires: true },
  // Its deliveries go with it.
  { table: applications, name: 'erase_deliveries', fires: true },
  // The backup has the letters and the invitations; for one that is older than both they are made.
  { table: statuses, name: 'draft_first', fires: 'without letters' },
  { table: statuses, name: 'redraft', fires: 'without letters' },
  { table: statuses, name: 'then_accept_first', fires: 'without letters' },
  { table: statuses, name: 'then_accept', fires: 'without letters' },
  // The backup has the deliveries of RSVPs, with their ids; an older one has none.
  { table: history, name: 'enqueue_rsvp', fires: false },
  // What is restored is refused as what is stored.
  { table: deliveries, name: 'check_delivery', fires: true },
  // A restore cancels what was on its way, which tells nobody anything.
  { table: deliveries, name: 'follow_told', fires: true },
]
