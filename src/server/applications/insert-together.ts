import { isDatabaseError } from '../database/connection/connection.ts'

import { columns, isComplete } from '../../application/application.ts'
import { deadline as usualDeadline } from '../database/connection/pools.ts'
import { insertApplications, type SentRows } from './insert-rows.ts'
import { DeadlineError } from '../database/connection/connection.ts'
import type { Sql } from '../database/connection/sql.ts'

/** The maximum number of rows of one statement, and of bytes of their JSON. */
const max = { rows: 64, bytes: 256 * 1024 }
/**
 * At most `statements` statements run concurrently. While some run, a further one begins if `rows` rows wait for each of these,
 * or `max.rows` rows in all. A further one also begins once a row has waited `patience` milliseconds.
 */
const concurrency = { statements: 10, rows: 32, patience: 20 }
/** Milliseconds for which each row has its own statement after a statement of several rows was refused. */
const splitFor = 100

/** A row that waits to be sent. */
interface Waiting {
  /** The one row, as it was sent. */
  rows: SentRows
  /** Gives the call of this row the outcome of the statement that stored or refused it. */
  settle: (stored: Promise<number>) => void
}

/**
 * Batches inserts of visitors: rows that would wait for a connection share one statement and one commit. Each call ends when its
 * own row is stored or refused, with the result that `insertApplications` would give.
 *
 * @param deadline Milliseconds after which the insert of a row fails if the row was neither stored nor refused.
 */
export function createBatchedInserts(
  sql: Sql,
  deadline = usualDeadline,
): (rows: SentRows) => Promise<number> {
  /** The waiting rows by their form answers. Two equal rows in one statement would make PostgreSQL refuse all of it. */
  const waiting = new Map<string, Waiting>()
  /** The number of running statements. */
  let running = 0
  /** Until this time, each row has its own statement. */
  let splitUntil = 0
  /** From this time on, a waiting row is sent even if few rows wait. */
  let lateFrom = 0

  const beginStatements = () => {
    const isLate = performance.now() >= lateFrom
    while (waiting.size > 0 && running < concurrency.statements) {
      if (waiting.size < Math.min(running * concurrency.rows, max.rows) && !isLate) return
      void insertWaiting()
    }
  }

  const insertWaiting = async () => {
    const taken = takeWaiting()
    const json = `[${taken.map(({ rows }) => rows.json).join()}]`
    const together: SentRows = { json, isArray: true, count: taken.length, columns, usesDefaults: false }
    running += 1
    const stored = insertApplications(sql, taken.length === 1 && taken[0] ? taken[0].rows : together)
    const mustSplit = await stored.then(
      () => false,
      (error: unknown) => taken.length > 1 && isForOneRow(error),
    )
    running -= 1
    // The refused statement stored no row, so each is sent again on its own. Any other error is the result of every row.
    if (mustSplit) splitUntil = performance.now() + splitFor
    for (const { rows, settle } of taken) {
      settle(mustSplit ? insertApplications(sql, rows) : stored.then(() => 1))
    }
    beginStatements()
  }

  const takeWaiting = () => {
    const taken: [key: string, row: Waiting][] = []
    let bytes = 0
    for (const each of waiting) {
      bytes += Buffer.byteLength(each[1].rows.json)
      if (taken.length === max.rows || (taken.length > 0 && bytes > max.bytes)) break
      taken.push(each)
      waiting.delete(each[0])
    }
    // Sorted, so that two statements with the same rows cannot deadlock.
    return taken.toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each)
  }

  return (rows) => {
    const { formAnswers } = rows
    if (formAnswers === undefined || !isComplete(formAnswers) || performance.now() < splitUntil) {
      return insertApplications(sql, rows)
    }
    const key = columns.map((column) => formAnswers[column]).join('\0')
    if (waiting.has(key)) return insertApplications(sql, rows)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        if (waiting.get(key)?.rows === rows) waiting.delete(key)
        reject(new DeadlineError(`a row was not stored within ${deadline} ms`))
      }, deadline)
      const settle = (stored: Promise<number>) =>
        void stored.then(resolve, reject).finally(() => clearTimeout(timer))
      waiting.set(key, { rows, settle })
      if (waiting.size > 1) return
      // Lets other requests that arrived at the same time join.
      setImmediate(beginStatements)
      lateFrom = performance.now() + concurrency.patience
      setTimeout(beginStatements, concurrency.patience + 1)
    })
  }
}

/** Whether a statement was refused for a reason that may concern only one of its rows. */
function isForOneRow(error: unknown) {
  return isDatabaseError(error) && /^(22|23|40|42|P0|PT)/.test(error.code)
}
