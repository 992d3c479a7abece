import type { Sql } from '../database/connection/sql.ts'

/**
 * Makes the newest edition the default of new applications. Neither a backup nor a copy of the rows includes this column default.
 *
 * @param sql A transaction of the schema's owner.
 */
export async function defaultToNewestEdition(sql: Sql): Promise<void> {
  const [row] = await sql<[{ newest: number; current: string }]>`
    select max(editions.id) as newest, (
      select pg_get_expr(adbin, adrelid) from pg_attrdef
        join pg_attribute on attrelid = adrelid and attnum = adnum
      where adrelid = 'public.retreat_applications'::regclass and attname = 'edition'
    ) as current
    from private.editions`
  // The statement's lock would wait for readers, so an unchanged default is not set again.
  if (String(row.newest) === row.current) return
  await sql.unsafe(`alter table public.retreat_applications alter column edition set default ${row.newest}`)
}
