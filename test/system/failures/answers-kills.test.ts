import { expect, test } from 'vitest'

import type { Rsvp } from '../../../src/application/statuses.ts'
import type { Invitation } from '../../../src/client/invitation.ts'
import type { DecisionOutcome } from '../../../src/client/desk/applications.ts'
import type { Places } from '../../../src/client/desk/retreat.ts'
import { startDesk } from '../../support/desk.ts'
import { extent, seed } from '../../support/quick-or-long.ts'
import { anApplication } from '../../support/form.ts'
import { storeQuestions } from '../../support/questions.ts'
import { randomFrom } from '../../support/random.ts'
import { valuesOf } from '../../support/sql.ts'
import { callAsAnon, retryUntilResponse } from './retries.ts'

const guests = 500
const rounds = extent({ quick: 2, long: 10 })

test(`${guests} guests send RSVPs and answers while organisers decide: each is saved once, although the server is killed ${rounds} times`, async () => {
  const random = randomFrom(seed)
  const desk = await startDesk({ RATE_LIMIT_PER_MINUTE: '0' })
  const organiser = await desk.signedIn('mary@example.org')
  const { sql } = desk
  const rows = Array.from({ length: guests }, () => ({ ...anApplication() }))
  await sql`insert into public.retreat_applications ${valuesOf(rows)}`
  await sql`
    insert into private.statuses (application_id, created_at, status, version)
      select id, created_at, 'accepted', 1 from public.retreat_applications`
  await sql`update private.invitations set told_at = now(), deadline = private.today() + 10`
  await sql`update private.places set places = ${guests}`
  const [arrival = ''] = await storeQuestions(sql, [{ text: 'When do you arrive?' }])
  const people = await sql<{ id: string; token: string }[]>`
    select application_id as id, token from private.invitations order by 1`

  const callByLink = (name: string, args: object) => callAsAnon<Invitation>(desk.origin, name, args)

  /** The acknowledged RSVPs, by act. */
  const acknowledged = new Map<string, { id: string; rsvp: Rsvp }>()
  /** The acknowledged answers to the question, by act. */
  const answered = new Map<string, { id: string; answer: string }>()
  const waiting = [...people]
  const answering = Array.from({ length: 50 }, async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { id, token } = next
      for (const rsvp of random() < 0.3 ? (['coming', 'not coming'] as const) : (['coming'] as const)) {
        const act = crypto.randomUUID()
        const invitation = await callByLink('answer_place', { token, answer: rsvp, act })
        if (invitation.state === 'open') acknowledged.set(act, { id, rsvp })
      }
      const act = crypto.randomUUID()
      const answer = `At ${act}`
      const { questions } = await callByLink('answer_questions', {
        token,
        answers: { [arrival]: answer },
        act,
      })
      if (questions?.list[0]?.answer === answer) answered.set(act, { id, answer })
    }
  })
  let isOver = false
  const deciding = (async () => {
    const versions = new Map<string, number>()
    while (!isOver) {
      const { id } = people[Math.floor(random() * guests)] ?? { id: '' }
      for (const status of ['declined', 'accepted'] as const) {
        const act = crypto.randomUUID()
        const version = versions.get(id) ?? 1
        const [outcome] = await retryUntilResponse(async () => {
          const { data, error } = await organiser.rpc('desk_decide', {
            act,
            decisions: [{ id, status, version }],
          })
          return error ? undefined : (data as DecisionOutcome[])
        })
        if (outcome?.outcome === 'kept') versions.set(id, outcome.version)
      }
    }
  })()
  let checkCount = 0
  const watching = (async () => {
    while (!isOver) {
      const places = await organiser.rpc('desk_places')
      if (places.error) continue
      const {
        coming,
        not_coming: notComing,
        no_answer: noAnswer,
        not_told: notTold,
        free,
      } = places.data as Places
      // At most one person is not accepted, because the organiser decides on one person at a time.
      expect([guests, guests - 1]).toContain(coming + notComing + noAnswer + notTold)
      expect(free).toBe(guests - coming - noAnswer - notTold)
      checkCount += 1
    }
  })()
  for (let round = 1; round <= rounds; round += 1) {
    const enough = Math.floor((round * guests) / (rounds + 2))
    await expect
      .poll(() => acknowledged.size, { timeout: 60_000, interval: 5 })
      .toBeGreaterThanOrEqual(enough)
    await desk.killAndRestart()
  }
  await Promise.all(answering)
  isOver = true
  await Promise.all([deciding, watching])

  const storedRsvps = await sql<{ id: string; act: string; rsvp: Rsvp }[]>`
    select application_id as id, act, detail ->> 'answer' as rsvp from private.history
    where kind = 'answer' order by history.id`
  expect(Object.fromEntries(storedRsvps.map(({ act, ...rest }) => [act, rest]))).toEqual(
    Object.fromEntries(acknowledged),
  )
  expect(storedRsvps).toHaveLength(acknowledged.size)
  const newest = new Map(storedRsvps.map(({ id, rsvp }) => [id, rsvp]))
  const currentRsvps = await sql<{ id: string; rsvp: Rsvp }[]>`
    select application_id as id, rsvp from private.invitations where rsvp is not null`
  expect(new Map(currentRsvps.map(({ id, rsvp }) => [id, rsvp]))).toEqual(newest)
  const { data } = await organiser.rpc('desk_places')
  const count = (rsvp: Rsvp) => [...newest.values()].filter((each) => each === rsvp).length
  expect(data).toMatchObject({ coming: count('coming'), not_coming: count('not coming') })
  expect(acknowledged.size).toBeGreaterThan(guests / 2)
  const storedAnswers = await sql<{ id: string; act: string; answer: string }[]>`
    select application_id as id, act, answer
    from private.history join private.question_answers using (application_id) where kind = 'questions'`
  const storedByAct = new Map(storedAnswers.map(({ act, ...rest }) => [act, rest]))
  expect(storedAnswers).toHaveLength(storedByAct.size)
  for (const [act, given] of answered) expect(storedByAct.get(act)).toEqual(given)
  expect(answered.size).toBeGreaterThan(guests / 4)
  expect(checkCount).toBeGreaterThan(0)
  await desk.close()
}, 180_000)
