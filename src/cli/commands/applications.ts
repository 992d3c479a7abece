import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'

import { countOf } from '../../application/count.ts'
import { byteOrderMark } from '../../application/csv.ts'
import {
  applicationsForPager,
  applicationsWithDeliveries,
  countApplications,
  withDeskColumns,
  type StoredApplication,
} from '../queries/applications.ts'
import { appendErasures } from '../../server/backups/erasure-list.ts'
import { searchBackups } from '../../server/backups/search.ts'
import { isUuid } from '../../application/uuid.ts'
import { commandLine } from '../../settings/command-to-copy.ts'
import { OperatorError } from '../../settings/operator-error.ts'
import { readSettings } from '../../settings/server-settings.ts'
import { onOneLine, toCsv, toJson, toJsonLines, toScreen, toText } from '../formats.ts'
import { readOptions } from '../options.ts'
import { write } from '../output.ts'
import { showInPager } from '../pager.ts'
import { withDatabase } from '../with-database.ts'
import type { Sql } from '../../server/database/connection/sql.ts'

const usage = `Usage: ${commandLine('applications', '[option]')}

  (none)           lists the applications, the newest first: on a terminal in the pager that PAGER names, else less;
                   without a pager, the newest are last, next to the prompt
  --json           one JSON object a line
  --csv            a table for a spreadsheet
  --no-bom         the table without a byte order mark (which tells spreadsheets that it is UTF-8)
  --delete <id>    erases one application and its delivery permanently; may be given more than once
  --yes            erases without asking
  --all-about <email>
                   everything about a person as JSON, to answer them: every table, and the backups in BACKUP_DIR that have it`

/** Applications that are read at a time, so that the memory use does not depend on their number. */
const batchSize = 500

/** Runs `npm run applications`, by its options in `usage`. */
export async function run(): Promise<void> {
  const options = readOptions(
    {
      json: { type: 'boolean', default: false },
      csv: { type: 'boolean', default: false },
      'no-bom': { type: 'boolean', default: false },
      delete: { type: 'string', multiple: true },
      yes: { type: 'boolean', default: false },
      'all-about': { type: 'string' },
    },
    usage,
  )
  if (options === undefined) return
  const { json, csv, 'no-bom': noBom, delete: ids, yes, 'all-about': email } = options
  if (json && csv) throw new OperatorError('--json and --csv are two formats: choose one.')
  if (email !== undefined && (csv || ids !== undefined)) {
    throw new OperatorError(
      '--all-about writes JSON and changes nothing: do not combine it with --csv or --delete.',
    )
  }
  await withDatabase(async ({ owner }) => {
    if (ids !== undefined) return erase(owner, [...new Set(ids)], yes)
    if (email !== undefined) return write(await allAbout(owner, email))
    if (csv && !noBom) process.stdout.write(byteOrderMark)
    if (process.stdout.isTTY && !csv && !json) return show(owner)
    await owner.begin('isolation level repeatable read read only', async (sql) => {
      const batches = withProgress(applicationsWithDeliveries(sql, batchSize))
      const rows = json ? batches : withDeskColumns(sql, batches)
      await write(csv ? toCsv(rows) : json ? toJsonLines(rows) : toText(rows))
    })
  })
}

/** On a terminal, shows the newest first in the reader's pager. Without a pager, it shows the newest last, next to the prompt. */
async function show(sql: Sql) {
  const count = await countApplications(sql)
  // A terminal of unknown size reports 0.
  const width = process.stdout.columns || 80
  const list = (newest: 'first' | 'last') =>
    toScreen(withDeskColumns(sql, applicationsForPager(sql, batchSize, newest)), count, width)
  if (!(await showInPager(list('first')))) await write(list('last'))
}

/** Shows the progress on the terminal if the output goes elsewhere. */
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

/** Everything about a person, from the database and the backups, as JSON. */
async function allAbout(sql: Sql, email: string) {
  const [{ about }] = await sql<
    [
      {
        about: {
          applications: { id: string }[]
          account: object | null
          by_address: { id: string; email: string; address: string }[]
        }
      },
    ]
  >`select private.all_about(${email}) as about`
  const { by_address: byAddress, ...given } = about
  const { backupDir } = readSettings()
  const ids = new Set(about.applications.map(({ id }) => id))
  const search = backupDir === undefined ? undefined : await searchBackups(backupDir, { email, ids })
  console.error(
    search === undefined
      ? 'BACKUP_DIR is not set: no backup was searched.'
      : `Searched ${countOf(search.count, 'backup')} in ${backupDir}. Copies in other places were not searched.`,
  )
  for (const { id, email: otherEmail, address } of byAddress) {
    console.error(
      onOneLine(
        `Left out, since it may be about somebody else: application ${id} of ${otherEmail}, whose email an organiser replaced with ${address}.`,
      ),
    )
  }
  const { backups } = search ?? { backups: [] }
  if (ids.size === 0 && byAddress.length === 0 && about.account === null && backups.length === 0) {
    throw new OperatorError(`Nothing is stored about ${onOneLine(email)}.`)
  }
  return [toJson({ ...given, at: new Date().toISOString(), backups })]
}

async function erase(sql: Sql, ids: string[], yes: boolean) {
  const invalid = ids.find((id) => !isUuid(id))
  if (invalid !== undefined) {
    throw new OperatorError(`"${invalid}" is not the id of an application: the list shows them.`)
  }
  const found = await sql<{ id: string; name: string; email: string }[]>`
    select id, first_name || ' ' || last_name as name, email
    from public.retreat_applications where id = any(${ids})`
  const missing = ids.find((id) => !found.some((row) => row.id === id.toLowerCase()))
  if (missing !== undefined)
    throw new OperatorError(`There is no application ${missing}: nothing was erased.`)
  const names = found.map(({ name, email }) => onOneLine(`${name} <${email}>`))
  const question = `Erase ${names.length === 1 ? 'the application' : 'the applications'} of ${names.join(', ')} for good?`
  if (!yes && !(await confirm(question))) throw new OperatorError('Nothing was erased.')
  const [{ count }] = await sql<[{ count: number }]>`
    select private.erase_applications(${ids}, 'operator') as count`
  console.log(`Erased ${countOf(count, 'application')}.`)
  // Adds to the list of erasures in BACKUP_DIR. A running server does that, too, but perhaps no server ever runs here again.
  const { backupDir } = readSettings()
  if (backupDir === undefined) return
  await appendErasures(sql, backupDir).catch((error: unknown) => {
    if (!(error instanceof OperatorError)) throw error
    console.error(`${error.message} The next server that can write there lists it.`)
  })
}

/** Asks for confirmation. The end of the input and Ctrl-C mean no. */
async function confirm(question: string) {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const closed = once(terminal, 'close').then(() => '')
  try {
    return /^y(es)?$/i.test(await Promise.race([terminal.question(`${question} [y/N] `), closed]))
  } finally {
    terminal.close()
  }
}
