import { expect, test } from 'vitest'

import type { HistoryPage, Places } from '../../../src/client/desk/retreat.ts'
import { retreatDesk } from '../../support/invitation-server-for-test-file.ts'

const { sql, ask, store, decide, lettersOf, invite, sendRsvp, details, places, dayIn } = retreatDesk()

test('the numbers of places add up, and the waitlist begins with those who have waited longest', async () => {
  expect(await places()).toMatchObject({
    places: null,
    free: null,
    days: 10,
    zone: 'UTC',
    today: await dayIn(0),
  })
  const { version } = await places()
  expect(await ask('set_places', { version, places: 4, days: 7 })).toMatchObject({
    places: 4,
    free: 4,
    days: 7,
  })
  // A repeat succeeds. A change by somebody who saw an older version is refused.
  expect(await ask('set_places', { version, places: 4, days: 7 })).toMatchObject({ version: version + 1 })
  await expect(ask('set_places', { version, places: 5, days: 7 })).rejects.toMatchObject({ code: 'PT409' })
  const [coming, declining] = [await invite(), await invite(), await invite()]
  await sendRsvp(coming.token, 'coming')
  await sendRsvp(declining.token, 'not coming')
  await decide(await store(), 'accepted')
  const [first, second] = [await store(), await store()]
  await decide(second, 'waitlisted')
  await decide(first, 'waitlisted')
  const { waitlist, ...counts } = await places()
  expect(counts).toMatchObject({ coming: 1, not_coming: 1, no_answer: 1, late: 0, not_told: 1, free: 1 })
  expect(waitlist.map(({ id }) => id)).toEqual([second, first])
  // Who cannot come needs no place.
  expect(await ask('application', { application: second })).toMatchObject({
    acceptances: { accepted: 3, places: 4 },
  })
  await decide(first, 'accepted')
  await decide(second, 'accepted')
  expect(await places()).toMatchObject({ not_told: 3, free: -1, waitlisted: 0, waitlist: [] })
  const countListed = async (wanted: string) =>
    (await ask<{ applications: { id: string }[] }>('list', { filter: { answer: wanted } })).applications
      .length
  expect(
    await Promise.all(['coming', 'not coming', 'no answer', 'late', 'not told'].map(countListed)),
  ).toEqual([1, 1, 1, 0, 3])
})

test('organisers set the time zone of deadlines; reading the places never sets one', async () => {
  await sql()`update private.places set zone = null`
  // Older desks send a time zone.
  expect(await ask<Places>('places', { zone: 'Europe/Berlin' })).toMatchObject({
    zone: 'UTC',
    is_zone_set: false,
  })
  const { version, days } = await places()
  const set = (zone: string | null | undefined, shownVersion = version) =>
    ask<Places>('set_places', { version: shownVersion, places: null, days, zone })
  await expect(set('Nowhere/None')).rejects.toMatchObject({
    code: '22023',
    message: 'There is no time zone "Nowhere/None".',
  })
  const saved = { version: version + 1, zone: 'Pacific/Kiritimati', is_zone_set: true }
  expect(await set('Pacific/Kiritimati')).toMatchObject(saved)
  // A repeat succeeds. A change by somebody who saw an older version is refused.
  expect(await set('Pacific/Kiritimati')).toMatchObject(saved)
  await expect(set('Europe/Berlin')).rejects.toMatchObject({ code: 'PT409' })
  const [row] = await sql()<[{ is_equal: boolean }]>`
    select private.today() = (now() at time zone 'Pacific/Kiritimati')::date as is_equal`
  expect(row.is_equal).toBe(true)
  // Older desks send no time zone.
  expect(await ask('set_places', { version: version + 1, places: 4, days })).toMatchObject({
    places: 4,
    zone: 'Pacific/Kiritimati',
  })
  const { happenings } = await ask<HistoryPage>('history')
  expect(happenings.slice(0, 2)).toMatchObject([
    { kind: 'places', detail: { places: 4, days } },
    { kind: 'places', detail: { places: null, days, zone: 'Pacific/Kiritimati' } },
  ])
  expect(happenings[0]?.detail).not.toHaveProperty('zone')
})

test('a server stores the time zone of its machine if PostgreSQL knows that zone and none is set', async () => {
  const setSite = (zone: string) => sql()`select private.know_site('', '', ${zone})`
  await sql()`update private.places set zone = null`
  await setSite('Nowhere/None')
  expect(await places()).toMatchObject({ zone: 'UTC', is_zone_set: false })
  await setSite('Europe/Berlin')
  expect(await places()).toMatchObject({ zone: 'Europe/Berlin', is_zone_set: true })
  await setSite('Pacific/Kiritimati')
  expect(await places()).toMatchObject({ zone: 'Europe/Berlin' })
})

test("a letter with a deadline is not handed to an organiser's mail program until a time zone is set", async () => {
  const id = await store()
  await decide(id, 'accepted')
  await sql()`update private.places set site = '', zone = null`
  const [draft] = await lettersOf(id)
  const handOver = (given: object = {}) =>
    ask<{ body: string }>('hand_over', {
      act: crypto.randomUUID(),
      letter: draft?.id,
      seen: draft?.seen,
      site: 'https://desk.example',
      ...given,
    })
  const refusal = {
    code: '22023',
    message: 'This letter has a deadline: first save the time zone under Retreat.',
  }
  await expect(handOver()).rejects.toMatchObject(refusal)
  await expect(handOver({ zone: 'Nowhere/None' })).rejects.toMatchObject(refusal)
  expect((await details(id)).history).toMatchObject([{ kind: 'status' }])
  expect((await details(id)).application).toMatchObject({ kept_until: null })
  const { version } = await places()
  await ask('set_places', { version, places: null, days: 10, zone: 'Pacific/Kiritimati' })
  expect((await handOver()).body).toContain('https://desk.example/answer/#')
  expect((await details(id)).application).toMatchObject({ kept_until: await dayIn(10) })
})
