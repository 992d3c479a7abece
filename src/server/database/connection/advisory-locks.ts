/**
 * The keys of all advisory locks: arbitrary numbers that are unlikely to collide with those of another program. A new lock gets the
 * next number. The schema writes `applying`, `claim` and `receipt` as numbers.
 */
export const advisoryLocks = {
  /** A server changes the schema. */
  migration: 5_610_741,
  /** One server uses an embedded database. */
  server: 5_610_742,
  /** Processes use an embedded database, servers and commands. */
  inUse: 5_610_743,
  /** A server makes a scheduled backup. */
  backup: 5_610_744,
  /** A server writes the list of erasures. */
  erasures: 5_610_745,
  /** Applicants share it. Whoever holds it alone keeps new applications waiting (`private.hold_applying`). */
  applying: 5_610_746,
  /** Each claim of an email shares it (supabase/schemas/letters/mail-queue.sql). */
  claim: 5_610_748,
  /** Guesses of a code from one address, which is the second key. */
  guess: 5_610_749,
  /** Receipts to one mailbox or one domain, whose hash is the second key. */
  receipt: 5_610_750,
  /** Changes of what organisers may do (supabase/schemas/desk/organisers.sql). */
  organisers: 5_610_751,
} as const
