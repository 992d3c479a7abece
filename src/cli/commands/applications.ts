import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Sql } from 'postgres'

import { applicationsWithDeliveries, type StoredApplication } from '../../server/webhook/outbox.ts'
import { OperatorError } from '../../settings/operator-error.ts'
import { toCsv, toJsonLines, toText } from '../formats.ts'
import { readOptions } from '../options.ts'
import { withDatabase } from '../with-database.ts'

const usage = `Usage: npm run -s applications -- [option]

  (none)           lists the applications, the newest first
  --json           one JSON object a line
  --csv            a table for a spreadsheet
  --delete <id>    erases one application for good, and its delivery with it
  --yes            erases without asking`

export async function run(): Promise<void> {
  const options = readOptions(
    {
      json: { type: 'boolean', default: false },
      csv: { type: 'boolean', default: false },
      delete: { type: 'string' },
      yes: { type: 'boolean', default: false },
    },
    usage,
  )
  if (options === undefined) return
  if (options.json && options.csv) throw new OperatorError('--json and --csv are two formats: choose one.')
  await withDatabase(({ owner }) =>
    options.delete === undefined ? list(owner, options) : erase(owner, options.delete, options.yes),
  )
}

/** Writes every application to standard output as they come from the database, a few at a time. */
async function list(sql: Sql, { json, csv }: { json: boolean; csv: boolean }) {
  const rows = applicationsWithDeliveries(sql, 500)
  const format = csv ? toCsv : json ? toJsonLines : toText
  try {
    await pipeline(Readable.from(format(withProgress(rows))), process.stdout, { end: false })
  } catch (error) {
    // Whoever reads has read enough, as `head` does.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPIPE')) throw error
  }
}

/** Where the output goes elsewhere, a person at the terminal sees how far it is. */
async function* withProgress(batches: AsyncIterable<StoredApplication[]>) {
  const { stdout, stderr } = process
  if (stdout.isTTY || !stderr.isTTY) return yield* batches
  let count = 0
  for await (const batch of batches) {
    yield batch
    count += batch.length
    stderr.write(`\r${count.toLocaleString('en')} applications`)
  }
  stderr.write('\n')
}

async function erase(sql: Sql, id: string, yes: boolean) {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) {
    throw new OperatorError(`"${id}" is not the id of an application: the list shows them.`)
  }
  if (!yes && !(await confirm(`Erase application ${id} for good?`))) {
    throw new OperatorError('Nothing was erased.')
  }
  const { count } = await sql`delete from public.retreat_applications where id = ${id}`
  if (count === 0) throw new OperatorError(`There is no application ${id}.`)
  console.log(`Erased application ${id}.`)
}

/** Asks; the end of the input and Ctrl-C are a no. */
async function confirm(question: string) {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const closed = once(terminal, 'close').then(() => '')
  try {
    return /^y(es)?$/i.test(await Promise.race([terminal.question(`${question} [y/N] `), closed]))
  } finally {
    terminal.close()
  }
}
