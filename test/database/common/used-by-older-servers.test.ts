import { expect, test } from 'vitest'

import { letterDesk } from '../../support/letter-desk.ts'

const { sql, store } = letterDesk()

test('a server of 1.2.1 that runs beside a newer one announces what will be erased, and writes the daily emails', async () => {
  await store()
  await sql()`update public.retreat_applications set created_at = '2020-01-01'`
  await sql()`update private.editions set starts_on = '2020-03-01', ends_on = '2020-03-04'`
  await sql()`update private.retention set months = 12`
  await sql()`
    update private.organisers set notices = 'daily', told_until = now() - interval '1 hour',
      day_due_at = now() - interval '1 minute'`
  // The statements of 1.2.1.
  expect(await sql()`select private.keep_answers() as erased`).toEqual([{ erased: 0 }])
  expect(await sql()`select private.keep_applications(100) as step`).toMatchObject([
    { step: { erased: 0, announced: { applications: 1, days: 1 } } },
  ])
  await sql()`select private.keep_notices()`
  expect(await sql()`select kind from private.deliveries where kind <> 'application'`).toEqual([
    { kind: 'notice' },
  ])
})
