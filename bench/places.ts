import { randomUUID } from 'node:crypto'

import { filledDesk } from './filled-desk.ts'
import { median, printTable, spread } from './table.ts'

const rounds = 15
const applications = 1_000_000
const accepted = 50_000
/** The limit for the call of Places, in milliseconds. */
const maxMilliseconds = 50

/** Measures the times to see who is coming and to give an RSVP, with 50,000 accepted people of a million applicants. */
export async function benchPlaces() {
  const { desk, client } = await filledDesk(applications)
  const { sql } = desk
  await sql`
    insert into private.statuses (application_id, created_at, status, version)
      select id, created_at, 'accepted', 1 from public.retreat_applications
      where not exists (select from private.statuses where application_id = id)
      order by created_at limit ${accepted} - (select count(*) from private.invitations)`
  await sql`
    update private.invitations as invitation set
        told_at = case when row % 10 < 8 then now() end, deadline = private.today() + (row % 20)::integer - 3,
        rsvp = (array['coming', 'not coming', 'coming'])[row % 10],
        rsvp_at = case when row % 10 between 1 and 3 then now() end
      from (select application_id, row_number() over () as row from private.invitations) as numbered
      where numbered.application_id = invitation.application_id`
  // As the database does by itself within a minute of so many changes.
  await sql`vacuum analyze private.invitations, private.statuses`
  const tokens = await sql<{ token: string }[]>`
    select token from private.invitations where rsvp is null and deadline > private.today() limit ${2 * rounds + 2}`
  const call = (name: string, parameters: object) => client.rpc(name, parameters).throwOnError()
  const tasks: Record<string, () => PromiseLike<unknown>> = {
    Places: () => call('desk_places', {}),
    'list of who is coming': () => call('desk_list', { filter: { answer: 'coming' } }),
    'list of who is late': () => call('desk_list', { filter: { answer: 'late' } }),
    'reading a link': () => call('place_by_token', { token: tokens[0]?.token }),
    'a wrong link': () => call('place_by_token', { token: randomUUID() }),
    'an RSVP': () =>
      call('answer_place', { token: tokens.pop()?.token, answer: 'coming', act: randomUUID() }),
    'reminding a thousand': () => call('desk_remind', { act: randomUUID() }),
  }
  const times = new Map(Object.keys(tasks).map((name) => [name, [] as number[]]))
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, task] of Object.entries(tasks)) {
      const started = performance.now()
      await task()
      // The first round is a warm-up.
      if (round > 0) times.get(name)?.push(performance.now() - started)
    }
  }
  printTable(
    `Places and RSVPs, with ${accepted.toLocaleString('en')} accepted people among ${applications.toLocaleString('en')} applicants (${rounds} rounds)`,
    ['', 'ms', `within ${maxMilliseconds} ms`],
    [...times].map(([name, durations]) => [
      name,
      spread(durations, 1),
      name !== 'Places' ? '' : median(durations) <= maxMilliseconds ? 'yes' : 'NO',
    ]),
  )
  await desk.close()
}
