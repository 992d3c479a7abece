import type { Fragment, Sql } from 'postgres'

import { dueNotices } from './notices.ts'
import { dueLetters } from './claims.ts'
import { hasRoom, isOpen, type Pause } from './pace.ts'

/** What may be handed over. */
export type Kind = 'test' | 'letter' | 'notice' | 'receipt'

/** What is due, in the order in which it goes, and how many turns there were. */
export interface Due {
  kinds: Kind[]
  turns: string
}

/**
 * Tells what is due: what somebody tries out and waits for, letters, and what goes by itself, organisers first, since
 * receipts may be as many as there are applications. It only reads: where nothing is due, nobody takes a turn, and
 * nothing is written.
 */
export async function whatIsDue(sql: Sql, pause: Pause): Promise<Due> {
  // The first by its time, and not any: that keeps to the index.
  const isOne = (due: Fragment) => sql`((select true from ${due} order by due_at limit 1) is true)`
  const [row] = await sql<[({ turns: string } & Record<Kind, boolean>)?]>`
    select turns::text,
      ${isOne(dueNotices(sql, true))} as test,
      ${isOne(dueLetters(sql, false))} as letter,
      ${hasRoom(sql)} and ${isOne(dueNotices(sql, false))} as notice,
      ${hasRoom(sql)} and ${isOne(dueLetters(sql, true))} as receipt
    from private.postman where ${isOpen(sql, pause)}`
  const kinds: Kind[] = ['test', 'letter', 'notice', 'receipt']
  if (row === undefined) return { kinds: [], turns: '' }
  return { kinds: kinds.filter((kind) => row[kind]), turns: row.turns }
}
