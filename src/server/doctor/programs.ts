import { realpath } from 'node:fs/promises'

import type { ReadOnlyDatabase } from '../database/database.ts'
import { bundledPrograms, supported, versionOf } from '../database/programs.ts'
import { ok, wrongIf } from '../finding.ts'

/**
 * Reports which PostgreSQL runs the embedded database, where it is from, and whether newer versions are known.
 *
 * @param postgresBin The folder of an installed PostgreSQL; default the one from npm.
 */
export async function checkPrograms({ read }: ReadOnlyDatabase, postgresBin: string | undefined) {
  const [row] = await read(
    (sql) => sql<[{ number: number; folder: string }]>`
      select current_setting('server_version_num')::int as number, setting as folder
      from pg_config where name = 'BINDIR'`,
  )
  const minor = row.number % 10_000
  const running = `${Math.floor(row.number / 10_000)}.${minor}`
  const programs = postgresBin ?? bundledPrograms()
  const installed = await versionOf(programs)
  const willChange = running !== installed || (await realpath(row.folder)) !== (await realpath(programs))
  const updateHint =
    supported.minor - minor > 1 &&
    `Newer versions fix bugs (the newest known is ${supported.major}.${supported.minor})`
  return (
    wrongIf([
      willChange &&
        `PostgreSQL ${running} of ${row.folder} runs, and the next start will use ${installed} from ${programs}: restart the server.`,
      postgresBin !== undefined &&
        updateHint &&
        `PostgreSQL ${running} runs, from POSTGRES_BIN (${programs}). ${updateHint}: update it, and restart the server.`,
    ]) ??
    ok(
      postgresBin === undefined
        ? `PostgreSQL ${running} runs, from the binaries that npm installed (${programs}).${updateHint ? ` ${updateHint}: set POSTGRES_BIN to one that your distribution keeps up to date.` : ''}`
        : `PostgreSQL ${running} runs, from POSTGRES_BIN (${programs}).`,
    )
  )
}
