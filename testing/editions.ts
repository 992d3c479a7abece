import type { Sql } from '../src/server/database/sql.ts'

/** Begins a retreat, as an organiser does at the desk, with nothing copied. Returns its number. */
export async function beginEdition(sql: Sql, name: string): Promise<number> {
  const [{ id }] = await sql<[{ id: number }]>`
    insert into private.editions (id, name, began_at)
    select max(id) + 1, ${name}, clock_timestamp() from private.editions returning id`
  await sql.unsafe(`alter table public.retreat_applications alter column edition set default ${id}`)
  return id
}

/** Removes all retreats but the first, which only tests do. There must be no applications to them. */
export async function removeEditions(sql: Sql): Promise<void> {
  await sql`delete from private.questions where edition > 1`
  const removed = await sql`delete from private.editions where id > 1 returning id`
  if (removed.length > 0)
    await sql.unsafe('alter table public.retreat_applications alter column edition set default 1')
}
