import type { Sql } from '../../database/sql.ts'

/** Passwords that may be tried for an address, from wherever, and within how many seconds. */
const limit = { most: 30, seconds: 900 }
/** Addresses whose tries are remembered. Beyond that, those with the fewest are forgotten: a crowd of others forgives nobody. */
const mostAddresses = 20_000

/** In place of the address, which may be anybody's. */
const hashOf = (sql: Sql, address: string) => sql`sha256(convert_to(${address}, 'UTF8'))`

/** Whether a count ended, or began later than now, because the clock was set back. */
const isOver = (sql: Sql) =>
  sql`tries.began not between now() - make_interval(secs => ${limit.seconds}) and clock_timestamp()`

/**
 * Counts a password that is about to be tried, whether there is an account or not. It counts before the password is compared,
 * so that of many at the same time no more are compared.
 *
 * @param address In lower case.
 * @returns Whether it may be compared.
 */
export async function takePasswordTry(sql: Sql, address: string): Promise<boolean> {
  const [row] = await sql<{ count: number }[]>`
    insert into private.password_tries as tries (address_hash) values (${hashOf(sql, address)})
    on conflict (address_hash) do update set
      count = case when ${isOver(sql)} then 1 else tries.count + 1 end,
      began = case when ${isOver(sql)} then now() else tries.began end
    returning count`
  return (row?.count ?? 0) <= limit.most
}

/** Forgets the tries for an address whose owner has signed in. */
export async function forgivePasswordTries(sql: Sql, address: string): Promise<void> {
  await sql`delete from private.password_tries where address_hash = ${hashOf(sql, address)}`
}

/** Forgets tries whose time is over, and bounds how many addresses are remembered. */
export async function keepPasswordTries(sql: Sql): Promise<void> {
  await sql`
    delete from private.password_tries where address_hash in (
      select address_hash from private.password_tries as tries
      where ${isOver(sql)} or (count, began) <= (
        select count, began from private.password_tries order by count desc, began desc offset ${mostAddresses} limit 1
      )
      for update skip locked
    )`
}
