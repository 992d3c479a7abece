import type { SupabaseClient } from '@supabase/supabase-js'
import * as fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'

import { actOf, playRandomActs } from '../../support/random-acts.ts'
import { extent } from '../../support/quick-or-long.ts'
import { anApplication } from '../../support/form.ts'
import { findFaults } from '../../support/letters.ts'
import { claimLetter } from '../../support/claimed-emails.ts'
import { resetDatabase } from '../../support/reset.ts'
import { startSignIn } from '../../support/sign-in-server.ts'
import { valuesOf } from '../../support/sql.ts'
import type { Letter, ReleaseOutcome } from '../../../src/client/desk/letters.ts'
import { claimDue } from '../../../src/server/deliveries/claims.ts'
import { recordHeartbeat, recordTry } from '../../../src/server/deliveries/record-result.ts'
import type { DeliveryResult } from '../../../src/server/deliveries/webhook.ts'
import type { Sql } from '../../../src/server/database/connection/sql.ts'
import { record, type RecordedResult } from '../../../src/server/letters/outcomes.ts'

/** The largest number of acts of a sequence. The same setting is the number of acts in test/system/load/letter-acts.test.ts. */
const maxActs = Number(process.env['LETTER_ACTS'] ?? 200)
const sequences = extent({ quick: 2, long: 20 })
const timeLimit = 100_000 + maxActs * 500

let sql: Sql
let client: SupabaseClient

beforeAll(async () => {
  const server = await startSignIn()
  sql = server.database.owner
  ;({ client } = await server.signedIn())
})

async function ask<Response>(name: string, args: object = {}): Promise<Response> {
  const { data, error } = await client.rpc(`desk_${name}`, args)
  if (error) throw error
  return data as Response
}

/** A person, and what the test knows about them without asking the database. */
interface Person {
  id: string
  status: string
  version: number
  rsvp: string | null
  /** The decisions that may be the last one that they were told. Blank: they may have been told none. */
  told: Set<string>
}

/** A delivery that a server has claimed and is sending. */
interface Attempt {
  person: Person
  /** Blank if the letter has no template. */
  template: string
  /** Whether it informs the applicant. A webhook that accompanies an email does not. */
  isMain: boolean
  /** Whether its lease has expired, so that its result may be refused. */
  isLost: boolean
  end: (result: Result) => Promise<string>
}

interface Desk {
  people: Person[]
  pending: Attempt[]
  /** The ids of the letters that organisers discarded. */
  discarded: Set<string>
}

type Result = 'sent' | 'refused' | 'later' | 'broken off'
/** For each result, how it is recorded for an email and for a webhook. */
const results: Record<Result, [mail: RecordedResult, webhook: DeliveryResult]> = {
  sent: [
    { result: 'done', code: 250 },
    { delivered: true, status: 200, text: '' },
  ],
  refused: [
    { result: 'failed', code: 550, reply: '550 no' },
    { delivered: false, status: 410, text: 'Gone' },
  ],
  later: [
    { result: 'waiting', code: 451, reply: '451 later', isUncertain: false },
    { delivered: false, status: 500, text: 'Later' },
  ],
  'broken off': [
    { result: 'waiting', code: null, reply: 'It broke off.', isUncertain: true },
    { delivered: false, status: null, isUncertain: true, text: 'It broke off.' },
  ],
}

const isDecision = (template: string) => ['accepted', 'waitlisted', 'declined'].includes(template)
const newId = () => crypto.randomUUID()
const anyPerson = fc.nat(2)
const personOf = ({ people }: Readonly<Desk>, at: number) => {
  const person = people[at]
  if (person === undefined) throw new Error('There are three people.')
  return person
}
const lettersOf = ({ id }: Person) => ask<Letter[]>('letters_of', { applications: [id] })
const inState = async (person: Person, ...states: Letter['state'][]) =>
  (await lettersOf(person)).filter(({ state }) => states.includes(state))
const setRunning = ({ sendsMail, sendsWebhooks }: Record<'sendsMail' | 'sendsWebhooks', boolean>) => sql`
  update private.postman set seen_at = case when ${sendsMail} then now() else '-infinity' end,
    automation_seen_at = case when ${sendsWebhooks} then now() else '-infinity' end`

/** Checks that a claimed delivery has the current decision and was not recalled, and notes that it is being sent. */
async function checkClaim(desk: Desk, id: string, end: Attempt['end']) {
  const [row] = await sql<
    [
      {
        application: string
        template: string
        is_main: boolean
        is_recalled: boolean
      },
    ]
  >`
    select delivery.application_id as application, coalesce(template, '') as template, private.is_main(delivery),
      recalled_at is not null as is_recalled
    from private.deliveries as delivery join private.letters on letters.id = letter_id where delivery.id = ${id}`
  const person = desk.people.find((each) => each.id === row.application)
  if (person === undefined) throw new Error('a letter to nobody')
  expect(row.is_recalled).toBe(false)
  // Only deliveries that inform the applicant are checked: a webhook that accompanies an email follows it.
  if (isDecision(row.template) && row.is_main) expect(row.template).toBe(person.status)
  if (row.template === 'reminder') expect(person.rsvp).toBeNull()
  desk.pending.push({ person, template: row.template, isMain: row.is_main, isLost: false, end })
}

/** Notes that an applicant was told this decision, or may have been told. */
function noteTold(
  { person, template, isMain }: Pick<Attempt, 'person' | 'template' | 'isMain'>,
  isCertain: boolean,
) {
  if (!isMain || !isDecision(template)) return
  if (isCertain) person.told.clear()
  person.told.add(template)
}

const acts = {
  decide: actOf('decide', [anyPerson, fc.constantFrom('accepted', 'declined', 'waitlisted', 'new')], {
    async do(desk: Desk, [at, status]) {
      const person = personOf(desk, at)
      const { id, version } = person
      const [decided] = await ask<{ outcome: string; version: number }[]>('decide', {
        act: newId(),
        decisions: [{ id, status, version }],
      })
      expect(decided).toMatchObject({ outcome: 'kept' })
      Object.assign(person, { status, version: decided?.version ?? version })
      const letters = await lettersOf(person)
      const accompaniesEmail = ({ way, act: actId }: Letter) =>
        way === 'automation' && letters.some((mail) => mail.way === 'mail' && mail.act === actId)
      const undelivered = letters.filter(({ state }) =>
        ['draft', 'waiting', 'refused', 'given up'].includes(state),
      )
      const outdated = undelivered.filter(({ occasion }) => isDecision(occasion) && occasion !== status)
      expect(outdated.filter((letter) => !accompaniesEmail(letter))).toEqual([])
    },
  }),
  release: actOf('release', [anyPerson], {
    async do(desk: Desk, [at]) {
      const letters = (await inState(personOf(desk, at), 'draft')).map(({ id, seen }) => ({ id, seen }))
      const [{ isRunning }] = await sql<
        [{ isRunning: boolean }]
      >`select private.is_recent(seen_at) as "isRunning" from private.postman`
      const call = ask<ReleaseOutcome[]>('release', { act: newId(), letters, again: true })
      // Without a running mail sender, the release may be refused.
      const outcomes = isRunning ? await call : await call.catch(() => [])
      expect(outcomes.filter(({ outcome }) => outcome !== 'released' && outcome !== 'missing')).toEqual([])
    },
  }),
  stop: actOf('stop', [anyPerson], {
    async do(desk: Desk, [at]) {
      const pending = await inState(personOf(desk, at), 'waiting', 'sending')
      await ask('withdraw', { letters: pending.map(({ id }) => id) })
      const stillPending = (await inState(personOf(desk, at), 'waiting', 'sending')).map(({ state }) => state)
      expect(stillPending.filter((state) => state === 'waiting')).toEqual([])
      const drafts = await inState(personOf(desk, at), 'draft')
      for (const { occasion, way } of pending.filter(({ state }) => state === 'waiting')) {
        if (way === 'mail' && stillPending.length === 0 && occasion !== '')
          expect(drafts.map((draft) => draft.occasion)).toContain(occasion)
      }
    },
  }),
  claim: actOf('claim', [], {
    async do(desk: Desk) {
      await sql`update private.postman set next_at = '-infinity', paused_until = '-infinity'`
      const claim = await claimLetter(sql)
      if (claim) await checkClaim(desk, claim.id, (result) => record(sql, claim, results[result][0]))
    },
  }),
  claimDecision: actOf('claimDecision', [], {
    async do(desk: Desk) {
      for (const claim of await claimDue(sql, 'decision', 1))
        await checkClaim(desk, claim.id, (result) => recordTry(sql, claim, results[result][1]))
    },
  }),
  end: actOf('end', [fc.nat(5), fc.constantFrom<Result>('sent', 'refused', 'later', 'broken off')], {
    can: ({ pending }: Readonly<Desk>) => pending.length > 0,
    async do({ pending }, [at, result]) {
      const [ended] = pending.splice(at % pending.length, 1)
      if (ended === undefined) return
      const outcome = await ended.end(result)
      if (outcome === 'lost') expect(ended.isLost).toBe(true)
      else if (result === 'sent') noteTold(ended, true)
      else if (result === 'broken off') noteTold(ended, false)
    },
  }),
  /** The leases of all claims expire, since the servers died or are very slow. A slow server still ends its attempts. */
  lose: actOf('lose', [fc.boolean()], {
    can: ({ pending }: Readonly<Desk>) => pending.length > 0,
    async do({ pending }, [isSlow]) {
      await sql`update private.deliveries set due_at = now() where state = 'sending'`
      for (const each of pending) {
        each.isLost = true
        noteTold(each, false)
      }
      if (!isSlow) pending.length = 0
    },
  }),
  wait: actOf('wait', [], {
    async do() {
      await sql`update private.deliveries set due_at = now() where state = 'waiting'`
      await recordHeartbeat(sql, 'mail sender')
      expect(
        await sql`select from private.deliveries where state = 'sending' and recalled_at is not null and due_at <= now()`,
      ).toEqual([])
    },
  }),
  byHand: actOf('byHand', [anyPerson], {
    async do(desk: Desk, [at]) {
      const person = personOf(desk, at)
      for (const { id: letter, seen, occasion } of await inState(person, 'draft')) {
        await ask('sent_by_hand', { letter, seen })
        noteTold({ person, template: occasion, isMain: true }, true)
      }
    },
  }),
  edit: actOf('edit', [anyPerson], {
    async do(desk: Desk, [at]) {
      for (const { id: letter, seen } of await inState(personOf(desk, at), 'draft'))
        await ask('edit', { letter, seen, subject: 'Hello', body: 'As we said.' })
    },
  }),
  discard: actOf('discard', [anyPerson], {
    async do(desk: Desk, [at]) {
      const letters = (await inState(personOf(desk, at), 'draft')).map(({ id }) => id)
      await ask('discard', { letters })
      for (const letter of letters) desk.discarded.add(letter)
    },
  }),
  // `current` writes the letter of the person's current status. Frequent choices are listed several times.
  write: actOf('write', [anyPerson, fc.constantFrom('current', 'Travel', 'current', 'reminder', '')], {
    async do(desk: Desk, [at, template]) {
      const { id, status, rsvp } = personOf(desk, at)
      const occasion = template === 'current' ? status : template
      if (template === '')
        await ask('write_to', { act: newId(), application: id, subject: 'Hello', body: 'By train?' })
      else if (occasion !== 'new' && (template !== 'reminder' || rsvp === null))
        await ask('write', { applications: [id], occasion, again: true })
    },
  }),
  answer: actOf('answer', [anyPerson, fc.constantFrom('coming', 'not coming', null)], {
    can: (desk: Readonly<Desk>, [at]) => personOf(desk, at).status === 'accepted',
    async do(desk, [at, answer]) {
      const person = personOf(desk, at)
      await ask('set_answer', { act: newId(), application: person.id, answer })
      const [row] = await sql<[{ rsvp: string | null }]>`
        select rsvp from private.invitations where application_id = ${person.id}`
      person.rsvp = row.rsvp
      const reminders = (await inState(person, 'draft', 'waiting', 'refused', 'given up')).filter(
        ({ occasion }) => occasion === 'reminder',
      )
      if (answer !== null) expect(reminders).toEqual([])
    },
  }),
  repair: actOf('repair', [anyPerson, fc.constantFrom('retry', 'settle', 'readdress')], {
    async do(desk: Desk, [at, remedy]) {
      const person = personOf(desk, at)
      const failed = await inState(person, 'refused', 'given up')
      if (remedy !== 'readdress') await ask(remedy, { letters: failed.map(({ id }) => id) })
      for (const { id: letter, occasion, way } of failed) {
        if (remedy === 'readdress' && way === 'mail')
          await ask('readdress', { act: newId(), letter, address: 'b@example.org' })
        if (remedy !== 'settle') continue
        const [row] = await sql<[{ is_main: boolean }]>`
          select private.is_main(delivery) from private.deliveries as delivery where id = ${letter}`
        noteTold({ person, template: occasion, isMain: row.is_main }, true)
      }
    },
  }),
  /** Sets which servers run. */
  work: actOf('work', [fc.constantFrom('both', 'mail', 'automation', 'both')], {
    async do(_desk: Desk, [running]) {
      await setRunning({ sendsMail: running !== 'automation', sendsWebhooks: running !== 'mail' })
    },
  }),
}
const { claim, end, decide, release, claimDecision, write } = acts

/** Checks that the letters have no faults, and that the database knows which decision each person was told last. */
async function checkLetters({ people, discarded }: Desk) {
  expect(await findFaults(sql, discarded)).toEqual([])
  for (const { id, told } of people) {
    const [row] = await sql<[{ told: string | null }]>`select private.decision_told(${id}) as told`
    expect([...told]).toContain(row.told ?? '')
  }
}

test(
  `in ${sequences} sequences of random acts on letters, no outdated letter is sent and no letter is lost`,
  { timeout: 2 * timeLimit },
  async () => {
    const done = await playRandomActs({
      // Frequent acts are listed several times.
      acts: [
        ...Object.values(acts),
        decide,
        decide,
        release,
        release,
        claim,
        claim,
        end,
        end,
        end,
        claimDecision,
        write,
      ],
      sequences,
      maxActs,
      timeLimit,
      async begin(): Promise<Desk> {
        await resetDatabase(sql)
        await sql`update private.letter_settings set hold = '0'`
        await ask('set_template', {
          occasion: 'Travel',
          version: null,
          subject: 'By train',
          body: 'Take it.',
        })
        await setRunning({ sendsMail: true, sendsWebhooks: true })
        const rows = await sql<{ id: string }[]>`
        insert into public.retreat_applications
        ${valuesOf([1, 2, 3].map((each) => ({ ...anApplication({ email: `a${each}@example.com` }) })))} returning id`
        const people = rows.map(({ id }): Person => {
          return { id, status: 'new', version: 0, rsvp: null, told: new Set(['']) }
        })
        return { people, pending: [], discarded: new Set() }
      },
      afterEach: checkLetters,
    })
    expect(done).toBeGreaterThan((maxActs * sequences) / 4)
  },
)
