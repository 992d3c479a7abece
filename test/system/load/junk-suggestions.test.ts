import { expect, test } from 'vitest'

import type { JunkGroup } from '../../../src/client/desk/applications.ts'
import { startSignIn } from '../../support/sign-in-server.ts'
import { withoutTriggers } from '../../support/sql.ts'

test('junk is suggested among 20,000 new applications with the longest reasons', async () => {
  const server = await startSignIn()
  const { client } = await server.signedIn()
  // With the index of searches, storing these would take minutes.
  await server.database.owner`drop index public.retreat_applications_search`
  await withoutTriggers(
    server.database.owner,
    (sql) => sql`
      insert into public.retreat_applications (
        created_at, first_name, last_name, email, phone, linkedin, company, reason, consent)
      select now() - n * interval '1 second', 'Ada', 'Lovelace', 'p' || n || '@d' || n % 1000 || '.example', '1', 'l', 'c',
        left(case when n > 3 then n::text else '' end || repeat('best casino ', 500), 5000), true
      from generate_series(1, 20000) as n`,
  )
  const { data, error } = await client.rpc('desk_junk')
  expect(error).toBeNull()
  expect((data as JunkGroup[]).map(({ kind, applications }) => [kind, applications.length])).toEqual([
    ['reason', 3],
  ])
})
