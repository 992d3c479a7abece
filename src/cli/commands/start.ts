import { dryRun, type DryRun } from '../../server/database/schema/dry-run.ts'
import { freeDisk } from '../../server/database/postgres/disk.ts'
import { megabytes } from '../../server/database/schema/disk-space.ts'
import { commandLine } from '../../settings/command-to-copy.ts'
import { OperatorError } from '../../settings/operator-error.ts'
import { readSettings } from '../../settings/server-settings.ts'
import { version } from '../../settings/version.ts'
import { readOptions } from '../options.ts'
import { withDatabase } from '../with-database.ts'

const usage = `Usage: ${commandLine('start')}
       ${commandLine('start', '--dry-run')}
       ${commandLine('<command>', '--help')}

  Starts the server, with the settings of the environment and of .env (docs/operate.md).

  --dry-run   says what the start would do to the database, and starts no server: which migrations it would apply, how
              long that takes, the disk it needs, and the rows of each table before and after. It applies them in a
              transaction that is rolled back. This also works beside a running server. It ends with 1 where the update would
              fail.
  --version   says which version this is

Commands, most of which work whether the server runs or not:

  applications   lists, exports and erases applications; everything about a person
  backup         makes, lists and checks backups
  doctor         checks everything that a server needs, and says what to do
  door           closes and opens the form
  letters        counts, retries and stops letters
  organisers     accounts of organisers, and links that sign them in
  restore        restores a backup into an empty database
  verify         checks a backend over HTTP
  webhooks       counts, lists and retries deliveries`

/** Handles `npm start -- --dry-run`: reports what an update would do. Without options, `start.js` runs the server instead. */
export async function run(): Promise<void> {
  const options = readOptions({ 'dry-run': { type: 'boolean' } }, usage)
  if (options === undefined) return
  if (options['dry-run'] !== true) throw new OperatorError(usage)
  const settings = readSettings()
  const { dataDir, databaseUrl } = settings
  await withDatabase(
    async ({ owner }) => {
      const result = await dryRun(owner, {
        onEvent: (message) => console.error(message),
        ...(databaseUrl === undefined && { freeDisk: () => freeDisk(dataDir) }),
      })
      for (const line of linesOf(result)) console.log(line)
    },
    'check',
    settings,
  )
}

function linesOf({ applied, untried, milliseconds, disk, tables }: DryRun): string[] {
  if (applied.length + untried.length === 0) return [`Version ${version} changes nothing of the schema.`]
  const free = disk.free === undefined ? '' : `, of ${megabytes(disk.free)} that are free`
  const rows = tables.map(({ name, before, after }) => [name, shown(before), shown(after)])
  return [
    `Version ${version} would apply these migrations:`,
    ...applied.map((name) => `  ${name}`),
    ...untried.map((name) => `  ${name} (not tried: while people apply)`),
    `They took ${(milliseconds / 1000).toFixed(1)} s. Nobody can apply for that long during the update. Everything was undone.`,
    ...(disk.needed > 0 ? [`The update needs ${megabytes(disk.needed)} of disk for a while${free}.`] : []),
    ...(rows.length > 0 ? ['', ...table(['Rows', 'now', 'afterwards'], rows)] : []),
  ]
}

const shown = (count: number | null) => count?.toLocaleString('en') ?? 'no table'

/** Formats rows in columns: the first left-aligned, the others right-aligned. */
function table(head: string[], rows: string[][]): string[] {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)))
  return [head, ...rows].map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  '),
  )
}
