import type { SupabaseClient } from '@supabase/supabase-js'

import type { Application } from '../../src/application/application.ts'
import type { Status } from '../../src/application/statuses.ts'
import type { Sql } from '../../src/server/database/connection/sql.ts'
import { anApplication } from './form.ts'
import { valuesOf } from './sql.ts'

/** A signed-in organiser. */
export interface Organiser {
  email: string
  client: SupabaseClient
}

type Stored = Application & { id: string; created_at: Date }

/** Applications in the database, and what organisers decided. */
export interface Applicants {
  /** Stores applications. Unless they have times, they are a minute apart, the newest first. */
  store(applications: (Partial<Application> & { created_at?: Date })[]): Promise<Stored[]>
  /** Lets an organiser decide, by default Bob. */
  setStatus(applications: readonly { id: string }[], status: Status, by?: Organiser): Promise<void>
  /** The status of an application in the database. */
  statusOf(id: string): Promise<string>
}

/**
 * @param sql Returns the connections of the schema's owner.
 * @param bob Returns the organiser who decides by default.
 */
export function applicantsOf(sql: () => Sql, bob: () => Organiser): Applicants {
  return {
    async store(applications) {
      const now = Date.now()
      const rows = applications.map(({ created_at, ...answers }, index) => ({
        ...anApplication(answers),
        created_at: created_at ?? new Date(now - (index + 1) * 60_000),
      }))
      const ids = await sql()<{ id: string; email: string }[]>`
        insert into public.retreat_applications ${valuesOf(rows)} returning id`
      return rows.map((row, index) => ({ ...row, id: ids[index]?.id ?? '' }))
    },
    async setStatus(applications, status, { client } = bob()) {
      const ids = applications.map(({ id }) => id)
      const current = await sql()<{ id: string; version: number }[]>`
        select id, coalesce(version, 0) as version
        from public.retreat_applications left join private.statuses on application_id = id where id = any(${ids})`
      await client
        .rpc('desk_decide', {
          act: crypto.randomUUID(),
          decisions: current.map((each) => ({ ...each, status })),
        })
        .throwOnError()
    },
    async statusOf(id) {
      const [row] = await sql()<{ status: string }[]>`
        select status from private.statuses where application_id = ${id}`
      return row?.status ?? 'new'
    },
  }
}

/** Names and reasons of this many people, numbered from 1. */
export function people(count: number): { first_name: string; last_name: string; reason: string }[] {
  return Array.from({ length: count }, (_, index) => ({
    first_name: 'Person',
    last_name: String(index + 1),
    // The same reason from several people would be junk.
    reason: `To think.\nWithout a screen, as person ${index + 1}.`,
  }))
}

/** The text that replaces the name of an applicant for blind readers. */
export const hiddenName = /^Application [\da-f]{4}$/
