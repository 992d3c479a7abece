import { isDatabaseError } from './connection.ts'

import { columns, isComplete } from '../../application/application.ts'
import { deadline as usualDeadline } from './pools.ts'
import { insertApplications, type SentRows } from './insert.ts'
import { DeadlineError } from './connection.ts'
import type { Sql } from './sql.ts'

/** The most rows, and bytes of JSON, of one statement. */
const most = { rows: 64, bytes: 256 * 1024 }
/** Statements at the same time. Another one begins only when so many more rows wait, or have waited so many milliseconds. */
const beside = { most: 10, rows: 32, patience: 20 }
/** Milliseconds for which each row has a statement of its own after a statement of several rows was refused. */
const singlyFor = 100

interface Waiting {
  rows: SentRows
  answer: (stored: Promise<number>) => void
}

/**
 * Inserts of visitors. Rows that would wait for a connection go together in one statement, with one commit. Each insert
 * ends when its own row is stored or refused, with the result that `insertApplications` would give.
 *
 * @param deadline Milliseconds in which a row is stored, or told that it may not be.
 */
export function createInserts(sql: Sql, deadline = usualDeadline): (rows: SentRows) => Promise<number> {
  /** The waiting rows by their answers: two equal rows in one statement would have all of its rows refused. */
  const waiting = new Map<string, Waiting>()
  let [underWay, singlyUntil, impatientFrom] = [0, 0, 0]

  const next = () => {
    const isLate = performance.now() >= impatientFrom
    while (waiting.size > 0 && underWay < beside.most) {
      if (waiting.size < Math.min(underWay * beside.rows, most.rows) && !isLate) return
      void insertWaiting()
    }
  }

  const insertWaiting = async () => {
    const taken = takeWaiting()
    const json = `[${taken.map(({ rows }) => rows.json).join()}]`
    const together: SentRows = { json, isArray: true, count: taken.length, columns, missingAsDefault: false }
    underWay += 1
    const stored = insertApplications(sql, taken.length === 1 && taken[0] ? taken[0].rows : together)
    const isToBeParted = await stored.then(
      () => false,
      (error: unknown) => taken.length > 1 && isForOneRow(error),
    )
    underWay -= 1
    // No row of it is stored, so each is sent again on its own. Any other error is the result of all of them.
    if (isToBeParted) singlyUntil = performance.now() + singlyFor
    for (const { rows, answer } of taken) {
      answer(isToBeParted ? insertApplications(sql, rows) : stored.then(() => 1))
    }
    next()
  }

  const takeWaiting = () => {
    const taken: [string, Waiting][] = []
    let bytes = 0
    for (const each of waiting) {
      bytes += Buffer.byteLength(each[1].rows.json)
      if (taken.length === most.rows || (taken.length > 0 && bytes > most.bytes)) break
      taken.push(each)
      waiting.delete(each[0])
    }
    // Always in the same order: two statements with the same rows must not wait for each other in a circle.
    return taken.toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each)
  }

  return (rows) => {
    const { answers } = rows
    if (answers === undefined || !isComplete(answers) || performance.now() < singlyUntil) {
      return insertApplications(sql, rows)
    }
    const key = columns.map((column) => answers[column]).join('\0')
    if (waiting.has(key)) return insertApplications(sql, rows)
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        if (waiting.get(key)?.rows === rows) waiting.delete(key)
        reject(new DeadlineError(`a row was not stored within ${deadline} ms`))
      }, deadline)
      const answer = (stored: Promise<number>) =>
        void stored.then(resolve, reject).finally(() => clearTimeout(late))
      waiting.set(key, { rows, answer })
      if (waiting.size > 1) return
      // After the requests that have come at the same time.
      setImmediate(next)
      impatientFrom = performance.now() + beside.patience
      setTimeout(next, beside.patience + 1)
    })
  }
}

/** Whether a statement was refused because of one of its rows alone. */
function isForOneRow(error: unknown) {
  return isDatabaseError(error) && /^(22|23|40|42|P0|PT)/.test(error.code)
}
