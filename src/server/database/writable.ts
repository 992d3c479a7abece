import type { Sql } from 'postgres'

/**
 * Writes a little and takes it back, for what reading does not show: a full disk.
 *
 * @throws {postgres.PostgresError} where the database cannot write.
 */
export async function checkWritable(sql: Sql): Promise<void> {
  await sql.begin(
    (transaction) => transaction`
      create temp table writable on commit drop as
      select repeat(md5(n::text), 250) as filler from generate_series(1, 16) as n`,
  )
}
