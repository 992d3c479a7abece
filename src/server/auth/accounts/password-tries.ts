import type { Sql } from '../../database/connection/sql.ts'

/** The most passwords that may be tried for one email address, by all clients together, and the seconds until the count restarts. */
const limit = { maxTries: 30, seconds: 900 }
/**
 * The most addresses whose tries are counted. Beyond that, the addresses with the fewest tries are deleted, so that a flood
 * of other addresses does not reset a high count.
 */
const maxAddresses = 20_000

/** The hash of an address. It is stored in place of the address, which may belong to anybody. */
const hashOf = (sql: Sql, address: string) => sql`sha256(convert_to(${address}, 'UTF8'))`

/** Whether a count has expired. */
const isExpired = (sql: Sql) =>
  sql`not private.happened_within(tries.began, make_interval(secs => ${limit.seconds}))`

/**
 * Counts a try of a password, whether the account exists or not. Call it before the comparison, so that concurrent tries
 * cannot exceed the limit.
 *
 * @param address In lower case.
 * @returns Whether the password may be compared.
 */
export async function countPasswordTry(sql: Sql, address: string): Promise<boolean> {
  const [row] = await sql<{ count: number }[]>`
    insert into private.password_tries as tries (address_hash) values (${hashOf(sql, address)})
    on conflict (address_hash) do update set
      count = case when ${isExpired(sql)} then 1 else tries.count + 1 end,
      began = case when ${isExpired(sql)} then now() else tries.began end
    returning count`
  return (row?.count ?? 0) <= limit.maxTries
}

/** Deletes the tries for an address after its owner signed in. */
export async function resetPasswordTries(sql: Sql, address: string): Promise<void> {
  await sql`delete from private.password_tries where address_hash = ${hashOf(sql, address)}`
}

/** Deletes expired tries, and those beyond `maxAddresses`. */
export async function deleteExpiredPasswordTries(sql: Sql): Promise<void> {
  await sql`
    delete from private.password_tries where address_hash in (
      select address_hash from private.password_tries as tries
      where ${isExpired(sql)} or (count, began) <= (
        select count, began from private.password_tries order by count desc, began desc offset ${maxAddresses} limit 1
      )
      for update skip locked
    )`
}
