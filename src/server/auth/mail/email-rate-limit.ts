import { createHash } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'

import { secondsBetweenEmails } from '../account-limits.ts'
import { tooSoon } from '../refusals.ts'
import type { Sql } from '../../database/connection/sql.ts'

/** The most addresses whose last request is stored. Beyond that, the oldest requests are deleted early. */
const maxAddresses = 20_000

/** The limit of one sign-in email a minute for each address, with or without an account. */
export interface EmailRateLimit {
  /**
   * Counts a request for an email.
   *
   * @throws {HttpError} with 429 if the address requested an email within the last minute.
   */
  count(address: string): Promise<void>
  /** Stops the deletion of old requests. */
  end(): void
}

/**
 * The rate limit of sign-in emails, which all servers on the database share.
 *
 * @param sql Runs queries as the owner of the schema.
 */
export function createEmailRateLimit(sql: Sql, log: FastifyBaseLogger): EmailRateLimit {
  let deleting: NodeJS.Timeout | undefined
  return {
    async count(address) {
      const hash = createHash('sha256').update(address).digest()
      const counted = await sql`
        insert into private.mail_requests as requests (address_hash) values (${hash})
        on conflict (address_hash) do update set requested_at = now()
        where not private.happened_within(requests.requested_at, make_interval(secs => ${secondsBetweenEmails}))
        returning true`
      if (counted.length === 0) {
        const [row] = await sql<{ seconds_left: number }[]>`
          select ceil(extract(epoch from requested_at - now()))::int + ${secondsBetweenEmails} as seconds_left
          from private.mail_requests where address_hash = ${hash}`
        throw tooSoon(Math.max(row?.seconds_left ?? 1, 1))
      }
      await deleteOld(sql)
      // Deletes this request later, even if no other request triggers a deletion.
      deleting ??= setTimeout(
        () => {
          deleting = undefined
          deleteOld(sql).catch((error: unknown) =>
            log.error({ err: error }, 'old requests for emails could not be deleted'),
          )
        },
        (secondsBetweenEmails + 1) * 1000,
      ).unref()
    },
    end() {
      clearTimeout(deleting)
    },
  }
}

/**
 * Deletes old requests, and the oldest ones beyond `maxAddresses`. The statement is not prepared: with a plan that a connection
 * kept from when the table was small, it would take longer than a statement may while somebody floods us with addresses.
 */
async function deleteOld(sql: Sql) {
  await sql.unsafe(
    `delete from private.mail_requests where address_hash = any (array(
      select address_hash from private.mail_requests
      where not private.happened_within(requested_at, make_interval(secs => $1)) or requested_at < (
        select requested_at from private.mail_requests order by requested_at desc offset $2 limit 1
      )
      for update skip locked
    ))`,
    [secondsBetweenEmails, maxAddresses],
  )
}
