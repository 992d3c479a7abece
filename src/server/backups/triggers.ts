import { applications, deliveries, history, statuses } from './tables.ts'

/** The rule of a restore for one trigger. */
export interface Trigger {
  table: string
  name: string
  /** Whether the trigger fires during a restore. */
  firesOnRestore: boolean
}

/** The rule of a restore for each trigger of the schema, with its reason. A new trigger gets a line here. */
export const triggers: readonly Trigger[] = [
  // Today's limits of length and the door are for new applications, not for restored ones.
  { table: applications, name: 'refuse_too_long', firesOnRestore: false },
  { table: applications, name: 'keep_door', firesOnRestore: false },
  // A backup has no application twice.
  { table: applications, name: 'revive_withdrawn', firesOnRestore: false },
  // The backup has the deliveries. Receipts and notices were sent when people applied.
  { table: applications, name: 'enqueue_delivery', firesOnRestore: false },
  { table: applications, name: 'then_announce', firesOnRestore: false },
  // The search vectors are computed from the form answers, and are in no backup.
  { table: applications, name: 'keep_search_vectors', firesOnRestore: true },
  { table: applications, name: 'keep_search_vectors_changed', firesOnRestore: true },
  // An application that is erased again is added to the erasures again.
  { table: applications, name: 'remember_erasures', firesOnRestore: true },
  // Deletes the deliveries of an erased application.
  { table: applications, name: 'erase_deliveries', firesOnRestore: true },
  // A backup from before 1.3.0 has no edition of a status.
  { table: statuses, name: 'copy_application', firesOnRestore: true },
  // The backup has the letters and the invitations.
  { table: statuses, name: 'draft_first', firesOnRestore: false },
  { table: statuses, name: 'redraft', firesOnRestore: false },
  { table: statuses, name: 'then_accept_first', firesOnRestore: false },
  { table: statuses, name: 'then_accept', firesOnRestore: false },
  // The backup says which marks were already shown by a decision.
  { table: statuses, name: 'show_marks', firesOnRestore: false },
  // The backup has the number of applications that the door has counted.
  { table: statuses, name: 'count_aside', firesOnRestore: false },
  // The backup has the acts that the history recognises. One from before 1.2.1 has none.
  { table: history, name: 'remember_given', firesOnRestore: false },
  // The backup has the deliveries of RSVPs, with their ids. A backup from before such deliveries has none.
  { table: history, name: 'enqueue_rsvp', firesOnRestore: false },
  // Restored rows are validated like any others.
  { table: deliveries, name: 'check_delivery', firesOnRestore: true },
  // This trigger need not be disabled: a restore only cancels pending deliveries, which does not fire it.
  { table: deliveries, name: 'follow_told', firesOnRestore: true },
]
