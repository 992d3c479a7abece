import { dueNotices } from './notices.ts'
import { dueLetters } from './claims.ts'
import { hasRoom, isOpen, type Pause } from './pace.ts'
import type { Sql, Template } from '../database/sql.ts'

/** The kinds of mails that may be handed over. */
export type Kind = 'test' | 'letter' | 'notice' | 'receipt'

/** The kinds that are due, in the order in which they leave, and the number of turns so far. */
export interface Due {
  kinds: Kind[]
  turns: string
}

/**
 * Tells which kinds of mails are due: first tests, for which somebody waits, then letters, then mails that leave by themselves.
 * Of these, organisers' come first, since there may be as many receipts as applications. It only reads: where nothing is due,
 * no server takes a turn, and nothing is written.
 */
export async function whatIsDue(sql: Sql, pause: Pause): Promise<Due> {
  const [row] = await sql<[({ turns: string } & Record<Kind, boolean>)?]>`
    select turns::text,
      ${isTestDue(sql)} as test,
      ${isOne(sql, dueLetters(sql, false))} as letter,
      ${hasRoom(sql)} and ${isOne(sql, dueNotices(sql, false))} as notice,
      ${hasRoom(sql)} and ${isOne(sql, dueLetters(sql, true))} as receipt
    from private.postman where ${isOpen(sql, pause)}`
  const kinds: Kind[] = ['test', 'letter', 'notice', 'receipt']
  if (row === undefined) return { kinds: [], turns: '' }
  return { kinds: kinds.filter((kind) => row[kind]), turns: row.turns }
}

/** Whether a test is due, which comes before everything else. */
export function isTestDue(sql: Sql): Template {
  return isOne(sql, dueNotices(sql, true))
}

/** The first one by its time and not any one, so that the index is used. */
function isOne(sql: Sql, due: Template) {
  return sql`((select true from ${due} order by due_at limit 1) is true)`
}
