import { realpath } from 'node:fs/promises'

import type { ReadOnlyDatabase } from '../database/database.ts'
import { bundledPrograms, supported, versionOf } from '../database/postgres/programs.ts'
import { notSet, ok, wrongIf } from '../finding.ts'

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
  const behind = supported.minor - minor
  const updateHint =
    behind > 1 &&
    `It is ${behind} minor versions behind ${supported.major}.${supported.minor}, the newest known, which fixes bugs`
  const fromNpm = `PostgreSQL ${running} runs, from the binaries that npm installed (${programs}).`
  return (
    wrongIf([
      willChange &&
        `PostgreSQL ${running} of ${row.folder} runs, and the next start will use ${installed} from ${programs}: restart the server.`,
      postgresBin !== undefined &&
        updateHint &&
        `PostgreSQL ${running} runs, from POSTGRES_BIN (${programs}). ${updateHint}: update it, and restart the server.`,
    ]) ??
    (postgresBin === undefined && updateHint
      ? notSet(
          `${fromNpm} ${updateHint}: set POSTGRES_BIN to one that your distribution keeps up to date (docs/operate.md#postgresql-by-the-distribution).`,
        )
      : ok(
          postgresBin === undefined
            ? fromNpm
            : `PostgreSQL ${running} runs, from POSTGRES_BIN (${programs}).`,
        ))
  )
}
