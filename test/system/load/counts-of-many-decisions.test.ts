import { expect, test } from 'vitest'

import { startSignIn } from '../../support/sign-in-server.ts'
import { withoutTriggers } from '../../support/sql.ts'
import type { Overview } from '../../../src/client/desk/applications.ts'

test('with over 20,000 decisions, only the newest applications are counted as New, and the count says that there may be more', async () => {
  const server = await startSignIn()
  const { client } = await server.signedIn()
  const { owner } = server.database
  await withoutTriggers(
    owner,
    (transaction) => transaction`
    insert into public.retreat_applications (created_at, first_name, last_name, email, phone, linkedin, company, reason, consent)
    select '2026-03-03'::timestamptz + n * interval '1 second', n, 'b', 'c', 'd', 'e', 'f', 'g', true
    from generate_series(1, 20301) as n`,
  )
  const decideTheOldest = (count: number) =>
    withoutTriggers(
      owner,
      (transaction) => transaction`
    insert into private.statuses (application_id, created_at, edition, status, version)
    select id, created_at, 1, 'declined', 1 from public.retreat_applications where first_name::integer <= ${count}
    on conflict do nothing`,
    )
  const counts = async () => {
    const { data } = await client.rpc('desk_overview', { filter: {} }).throwOnError()
    return (data as Overview).counts
  }
  const many = { count: 1000, more: true }
  await decideTheOldest(20_000)
  expect(await counts()).toMatchObject({ new: { count: 301, more: false }, declined: many, all: many })
  await decideTheOldest(20_101)
  expect(await counts()).toMatchObject({ new: { count: 200, more: true }, declined: many, all: many })
  await decideTheOldest(20_301)
  expect(await counts()).toMatchObject({ new: { count: 0, more: true }, declined: many, all: many })
})
