import { expect, test } from 'vitest'

import type { AddedPerson } from '../../../src/client/desk/applications.ts'
import { startDesk } from '../../support/desk.ts'
import { extent, seed } from '../../support/quick-or-long.ts'
import { anApplication } from '../../support/form.ts'
import { randomFrom } from '../../support/random.ts'
import { startReceiver } from '../../support/receiver.ts'
import { valuesOf } from '../../support/sql.ts'
import { callAsAnon, retryUntilResponse } from './retries.ts'

const applicants = 200
const rounds = extent({ quick: 2, long: 10 })

test(`${applicants} applicants withdraw and restore while an organiser adds people: each act is stored once, and each added person is passed on, although the server is killed ${rounds} times`, async () => {
  const random = randomFrom(seed)
  const receiver = await startReceiver()
  const desk = await startDesk({ RATE_LIMIT_PER_MINUTE: '0', WEBHOOK_URL: receiver.origin })
  const organiser = await desk.signedIn('mary@example.org')
  const { sql } = desk
  const rows = Array.from({ length: applicants }, () => ({ ...anApplication() }))
  await sql`insert into public.retreat_applications ${valuesOf(rows)}`
  const links = await sql<{ id: string; token: string }[]>`
    insert into private.withdrawal_links (application_id) select id from public.retreat_applications
    returning application_id as id, token`

  /** The acknowledged acts of each applicant, in order, and whether the application is withdrawn since. */
  const acknowledged = new Map<string, { act: string; isWithdrawn: boolean }[]>()
  const waiting = [...links]
  const withdrawing = Array.from({ length: 20 }, async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { id, token } = next
      const changes = [true, false, true].slice(0, 1 + Math.floor(random() * 3))
      for (const isWithdrawn of changes) {
        const act = crypto.randomUUID()
        const { state } = await callAsAnon<{ state: string }>(desk.origin, 'withdraw_application', {
          token,
          is_withdrawn: isWithdrawn,
          act,
        })
        expect(state).toBe(isWithdrawn ? 'withdrawn' : 'open')
        acknowledged.set(id, [...(acknowledged.get(id) ?? []), { act, isWithdrawn }])
      }
    }
  })
  let isOver = false
  const added = new Set<string>()
  const adding = (async () => {
    while (!isOver) {
      const act = crypto.randomUUID()
      const args = { act, person: { first_name: 'Grace', email: `${act}@example.com` }, webhook: true }
      const { application } = await retryUntilResponse(async () => {
        const { data, error } = await organiser.rpc('desk_add', args)
        return error ? undefined : (data as AddedPerson)
      })
      expect(application).toBe(act)
      added.add(act)
    }
  })()
  for (let round = 1; round <= rounds; round += 1) {
    const enough = Math.floor((round * applicants) / (rounds + 2))
    await expect
      .poll(() => acknowledged.size, { timeout: 60_000, interval: 5 })
      .toBeGreaterThanOrEqual(enough)
    await desk.killAndRestart()
  }
  await Promise.all(withdrawing)
  isOver = true
  await adding

  const stored = await sql<{ id: string; act: string; isWithdrawn: boolean }[]>`
    select application_id as id, act, (detail ->> 'is_withdrawn')::boolean as "isWithdrawn"
    from private.history where kind = 'withdrawal' order by history.id`
  expect(stored).toHaveLength([...acknowledged.values()].flat().length)
  const actsOf = (id: string) =>
    stored.filter((row) => row.id === id).map(({ act, isWithdrawn }) => ({ act, isWithdrawn }))
  for (const [id, expected] of acknowledged) expect(actsOf(id)).toEqual(expected)
  const withdrawn = await sql<{ id: string }[]>`
    select application_id as id from private.statuses where withdrawn_at is not null`
  expect(withdrawn.map(({ id }) => id).toSorted()).toEqual(
    links
      .map(({ id }) => id)
      .filter((id) => acknowledged.get(id)?.at(-1)?.isWithdrawn)
      .toSorted(),
  )
  const people = await sql<{ id: string }[]>`
    select id from public.retreat_applications where added_by is not null`
  expect(people.map(({ id }) => id).toSorted()).toEqual([...added].toSorted())
  expect(added.size).toBeGreaterThan(rounds)
  for (const id of added) await receiver.waitFor(1, ({ headers }) => headers['webhook-id'] === id)
  await desk.close()
}, 180_000)
