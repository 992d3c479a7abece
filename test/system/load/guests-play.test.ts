import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { actOf, playRandomActs } from '../../support/random-acts.ts'
import { claimLetter } from '../../support/claimed-emails.ts'
import { extent } from '../../support/quick-or-long.ts'
import { record } from '../../../src/server/letters/outcomes.ts'
import { retreatDesk, tokenIn } from '../../support/invitation-server-for-test-file.ts'

const {
  sql,
  reset,
  ask,
  store,
  decide,
  release,
  sendRsvp,
  places,
  dayIn,
  passThreeDays,
  passHalf,
  passDeadline,
} = retreatDesk()

/** A person, and what the test knows about them without asking the database. */
interface Guest {
  id: string
  status: string
  isTold: boolean
  answer: string | null
  isLate: boolean
  /** The tokens of the links that they were sent, the newest last. */
  links: string[]
  /** Whether they have no valid link: none was sent, or another decision was sent after the newest. */
  hasNoLink: boolean
}

interface Retreat {
  guests: Guest[]
  /** The number of places, if it is set. */
  total: number | null
}

const guestCount = 3
const anyGuest = fc.nat(guestCount - 1)
const guestOf = ({ guests }: Readonly<Retreat>, index: number) => {
  const guest = guests[index]
  if (guest === undefined) throw new Error('There are three guests.')
  return guest
}
const isInvited = (retreat: Readonly<Retreat>, [index]: [number]) => {
  const { isTold, status } = guestOf(retreat, index)
  return isTold && status === 'accepted'
}

/** Hands over everything that is due, and notes what each person is told. */
async function deliverTo({ guests }: Retreat) {
  for (;;) {
    await sql()`update private.postman set next_at = '-infinity'`
    const claim = await claimLetter(sql())
    if (claim === undefined) return
    await record(sql(), claim, { result: 'done', code: 250 })
    const [letter] = await sql()<[{ application: string }]>`
      select application_id as application from private.deliveries where id = ${claim.id}`
    const guest = guests.find(({ id }) => id === letter.application)
    if (guest === undefined) throw new Error('a letter to nobody')
    const token = tokenIn(claim.body)
    // A valid link is repeated in every letter. After an invalid one, the link is new.
    const isExpected = guest.hasNoLink ? !guest.links.includes(token) : token === guest.links.at(-1)
    expect(token === '' || isExpected).toBe(true)
    if (token !== '') {
      if (guest.hasNoLink) guest.links.push(token)
      guest.hasNoLink = false
      guest.isTold = true
    } else {
      // The letter tells them that they are not accepted.
      Object.assign(guest, { isTold: false, answer: null, isLate: false, hasNoLink: true })
    }
  }
}

const retreatActs = {
  decide: actOf(
    'decide',
    [anyGuest, fc.constantFrom('accepted', 'shortlisted', 'accepted', 'waitlisted', 'declined')],
    {
      async do(retreat: Retreat, [index, status]) {
        const guest = guestOf(retreat, index)
        guest.status = status
        await decide(guest.id, status)
      },
    },
  ),
  send: actOf('send', [fc.shuffledSubarray([0, 1, 2])], {
    can: ({ guests }: Readonly<Retreat>) => guests.some(({ status }) => status !== 'new'),
    async do(retreat, [released]) {
      await sql()`update private.postman set seen_at = now()`
      for (const index of released) await release(guestOf(retreat, index).id, true)
      await deliverTo(retreat)
    },
  }),
  answer: actOf('answer', [anyGuest, fc.nat(3), fc.constantFrom('coming', 'not coming')], {
    can: (retreat: Readonly<Retreat>, [index]) => guestOf(retreat, index).links.length > 0,
    async do(retreat, [index, linkAge, given]) {
      const guest = guestOf(retreat, index)
      const token = guest.links[Math.max(guest.links.length - 1 - linkAge, 0)] ?? ''
      const isValid = guest.status === 'accepted' && !guest.hasNoLink && token === guest.links.at(-1)
      const response = await sendRsvp(token, given)
      expect(response).toMatchObject({ state: isValid ? (guest.isLate ? 'over' : 'open') : 'invalid' })
      if (isValid && !guest.isLate) guest.answer = given
    },
  }),
  recordRsvp: actOf('recordRsvp', [anyGuest, fc.constantFrom('coming', 'not coming', null)], {
    can: (retreat: Readonly<Retreat>, [index]) => guestOf(retreat, index).status === 'accepted',
    async do(retreat, [index, given]) {
      const guest = guestOf(retreat, index)
      guest.answer = given
      await ask('set_answer', { act: crypto.randomUUID(), application: guest.id, answer: given })
    },
  }),
  remind: actOf('remind', [], {
    can: ({ guests }: Readonly<Retreat>) => guests.some(({ isTold }) => isTold),
    async do() {
      await passHalf()
      await ask('remind')
      await passThreeDays()
    },
  }),
  passDays: actOf('passDays', [anyGuest], {
    can: isInvited,
    async do(retreat: Retreat, [index]) {
      const guest = guestOf(retreat, index)
      guest.isLate = true
      await passDeadline(guest.id)
    },
  }),
  moveDeadline: actOf('moveDeadline', [anyGuest], {
    can: isInvited,
    async do(retreat: Retreat, [index]) {
      const guest = guestOf(retreat, index)
      guest.isLate = false
      await ask('keep_until', { act: crypto.randomUUID(), application: guest.id, until: await dayIn(2) })
    },
  }),
  setPlaces: actOf('setPlaces', [fc.constantFrom(null, 0, 2, 3)], {
    async do(retreat: Retreat, [total]) {
      retreat.total = total
      await ask('set_places', { version: (await places()).version, places: total, days: 10 })
    },
  }),
}
const { decide: decides, answer: answers } = retreatActs

/** Checks that the sums of the desk match the guests. */
async function checkSums({ guests, total }: Retreat) {
  const accepted = guests.filter(({ status }) => status === 'accepted')
  const count = (predicate: (guest: Guest) => boolean) => accepted.filter(predicate).length
  const isAwaited = (guest: Guest) => guest.answer === null && guest.isTold
  const expected = {
    coming: count((guest) => guest.answer === 'coming'),
    not_coming: count((guest) => guest.answer === 'not coming'),
    no_answer: count(isAwaited),
    late: count((guest) => isAwaited(guest) && guest.isLate),
    not_told: count((guest) => guest.answer === null && !guest.isTold),
  }
  const free = total === null ? null : total - (accepted.length - expected.not_coming)
  expect(await places()).toMatchObject({ ...expected, free, places: total })
}

const retreats = extent({ quick: 2, long: 40 })

test(`after random decisions, letters, RSVPs, reminders and places in ${retreats} retreats the sums are right`, async () => {
  const done = await playRandomActs({
    // Frequent acts are listed several times.
    acts: [...Object.values(retreatActs), decides, answers, answers],
    sequences: retreats,
    maxActs: 140,
    timeLimit: 200_000,
    async begin() {
      await reset()
      const guests = await Promise.all(
        Array.from({ length: guestCount }, async (): Promise<Guest> => {
          const id = await store()
          return { id, status: 'new', isTold: false, answer: null, isLate: false, links: [], hasNoLink: true }
        }),
      )
      return { guests, total: null }
    },
    afterEach: checkSums,
  })
  expect(done).toBeGreaterThan(30 * retreats)
})
