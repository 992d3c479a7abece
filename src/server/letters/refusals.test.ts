import { beforeAll, beforeEach, expect, test } from 'vitest'

import { storeDueLetters } from '../../../test/support/letters.ts'
import { startMailServer } from '../../../test/support/mail-server.ts'
import { startMailSenderFixture, type MailSenderFixture } from '../../../test/support/mail-sender.ts'
import type { Database } from '../database/database.ts'
import type { Worker } from '../deliveries/claim-worker.ts'

let fixture: MailSenderFixture
let database: Database

beforeAll(async () => {
  fixture = await startMailSenderFixture()
  ;({ database } = fixture)
})

beforeEach(() => fixture.reset())

type Refusal = { code: number; text: string } | 'break off'

/** A mail server that refuses, for as long as `refuses` says so, and counts the tries of each recipient. */
async function startRefusing(
  step: 'RCPT TO' | 'DATA',
  refusal: Refusal,
  refuses: (to: string) => boolean = () => true,
) {
  const tries: string[] = []
  const server = await startMailServer({
    refusalAt: (at, to) => {
      if (at === 'RCPT TO') tries.push(to)
      return at === step && refuses(to) ? refusal : undefined
    },
  })
  return { server, tries, received: () => server.received.flatMap(({ to }) => to) }
}

const counts = async () => {
  const rows = await database.owner<{ state: string; tried: boolean; count: number }[]>`
    select state, attempts > 0 as tried, count(*)::int from private.deliveries
    where kind = 'letter' group by 1, 2 order by 1, 2`
  return rows.map(({ state, tried, count }) => `${count} ${state}${tried ? ', tried' : ''}`)
}
const postman = async () =>
  (
    await database.owner<{ failures: number; problem: string }[]>`
    select failures, problem from private.postman`
  )[0]

/** Ends the pause of all letters, and the wait of each. */
async function endPause() {
  await database.owner`update private.postman set paused_until = now()`
  await database.owner`update private.deliveries set due_at = now() where state = 'waiting' and due_at > now()`
}

/** Ends pauses, until there were this many failures in a row. */
async function pauseUntil(failures: number, sender: Worker) {
  for (let number = 1; number <= failures; number += 1) {
    await expect.poll(postman).toMatchObject({ failures: number })
    if (number === failures) return
    await endPause()
    sender.wake()
  }
}

/** Lets all pauses end until these are the counts. */
const becomes = (expected: unknown, sender: Worker) =>
  expect
    .poll(
      async () => {
        await endPause()
        sender.wake()
        return counts()
      },
      { timeout: 20_000 },
    )
    .toEqual(expected)

/** Waits until all letters are failed, done, or wait for the end of a pause. */
const settle = async (sender: Worker) => {
  sender.wake()
  await expect
    .poll(async () => {
      const { failures } = (await postman()) ?? { failures: 0 }
      const open = (await counts()).filter((line) => /waiting|sending/.test(line))
      return open.length === 0 || (failures > 0 && open.every((line) => line.includes('waiting')))
    })
    .toBe(true)
}

const aboutUs: ['RCPT TO' | 'DATA', { code: number; text: string }][] = [
  ['DATA', { code: 550, text: '5.4.5 Daily user sending limit exceeded' }],
  ['RCPT TO', { code: 550, text: '5.7.1 Relaying denied' }],
  ['RCPT TO', { code: 554, text: '5.7.1 Client host [192.0.2.1] blocked using zen.example.org' }],
  ['RCPT TO', { code: 530, text: '5.7.1 Authentication required' }],
  ['RCPT TO', { code: 553, text: '5.7.1 <ada@example.org>: Sender address rejected' }],
  ['DATA', { code: 550, text: '5.7.26 Unauthenticated email is not accepted' }],
  ['RCPT TO', { code: 550, text: 'Sending limit exceeded' }],
  ['RCPT TO', { code: 451, text: 'Too many messages' }],
  ['DATA', { code: 452, text: 'Out of quota' }],
]

// break: refusal-about-us-ends-letters
test.each(aboutUs)(
  'after letters that %s refused with %o, all letters pause, each probe is another letter, and no letter counts as tried',
  async (step, refusal) => {
    await storeDueLetters(database.owner, 25)
    let isRefusing = true
    const { server, tries, received } = await startRefusing(step, refusal, () => isRefusing)
    const { sender } = fixture.startSender(server)
    await pauseUntil(4, sender)
    expect(await counts()).toEqual(['25 waiting'])
    expect(new Set(tries).size).toBe(tries.length)
    // Five connections at first, then one probe at a time.
    expect(tries.length).toBeLessThan(10)
    const problem = `${refusal.code} ${refusal.text.replace(/\S*@\S*/, '(address)')}`
    expect(await postman()).toEqual({ failures: 4, problem })
    // Such a refusal says nothing about an address.
    expect(await database.owner`select from private.failures`).toHaveLength(0)
    isRefusing = false
    await becomes(['25 done, tried'], sender)
    expect(received().toSorted()).toEqual(
      Array.from({ length: 25 }, (_, n) => `a${n + 1}@example.org`).toSorted(),
    )
  },
)

test('the probe is another email even if the refused letter would be sent first', async () => {
  await storeDueLetters(database.owner, 4)
  await database.owner`
    update private.deliveries set kind = 'receipt', letter_id = null, mailbox = application_id
    where kind = 'letter' and id <> (select min(id::text)::uuid from private.deliveries where kind = 'letter')`
  const { server, tries } = await startRefusing('RCPT TO', { code: 530, text: '5.7.1 Sign in' })
  const { sender } = fixture.startSender(server, { perMinute: 60_000 })
  await pauseUntil(4, sender)
  expect(new Set(tries).size).toBe(4)
})

test('a text that is taken and then cut reaches nobody twice while other letters can be the probe', async () => {
  await storeDueLetters(database.owner, 12)
  const { server, tries } = await startRefusing('DATA', 'break off')
  const { sender } = fixture.startSender(server)
  await pauseUntil(4, sender)
  expect(await counts()).toEqual(['12 waiting'])
  expect(new Set(tries).size).toBe(tries.length)
  expect(tries.length).toBeLessThan(12)
})

// break: hostile-address-delays-all
test.each<[string, 'RCPT TO' | 'DATA', Refusal, string]>([
  ['5.7.1', 'DATA', { code: 550, text: '5.7.1 Message rejected' }, 'failed, tried'],
  ['550 alone', 'RCPT TO', { code: 550, text: 'no such user' }, 'failed, tried'],
  ['5.1.1', 'RCPT TO', { code: 550, text: '5.1.1 no such user' }, 'failed, tried'],
  ['451 alone', 'RCPT TO', { code: 451, text: 'try again later' }, 'waiting, tried'],
])(
  'a recipient refused with %s, while others are accepted, delays no other letter',
  async (_name, step, refusal, state) => {
    await storeDueLetters(database.owner, 25)
    const { server, tries, received } = await startRefusing(step, refusal, (to) => to === 'a1@example.org')
    fixture.startSender(server)
    await expect.poll(counts).toEqual(['24 done, tried', `1 ${state}`])
    expect(await postman()).toEqual({ failures: 0, problem: '' })
    expect(received()).toHaveLength(24)
    expect(tries.filter((to) => to === 'a1@example.org')).toHaveLength(1)
  },
)

test('a quota that begins after ten letters burns none', async () => {
  await storeDueLetters(database.owner, 25)
  let left = 10
  const { server, received } = await startRefusing(
    'DATA',
    { code: 550, text: '5.7.1 You have reached your limit' },
    () => (left -= 1) < 0,
  )
  const { sender } = fixture.startSender(server)
  await pauseUntil(3, sender)
  expect(await counts()).toEqual(['10 done, tried', '15 waiting'])
  left = 100
  await becomes(['25 done, tried'], sender)
  expect(new Set(received()).size).toBe(25)
})

test.each([
  ['a code that may be about all letters', { code: 550, text: '5.7.1 no' }],
  ['a code that is about all letters', { code: 550, text: '5.7.26 no' }],
])('two recipients that are refused with %s end refused, and the others arrive', async (_name, refusal) => {
  await storeDueLetters(database.owner, 25)
  const hostile = ['a1@example.org', 'a2@example.org']
  const { server, tries } = await startRefusing('RCPT TO', refusal, (to) => hostile.includes(to))
  const { sender } = fixture.startSender(server)
  const areSent = (count: number) => becomes(expect.arrayContaining([`${count} done, tried`]), sender)
  await areSent(23)
  // Each new letter that is accepted shows that the mail server is not the reason.
  for (let more = 1; !(await counts()).includes('2 failed, tried'); more += 1) {
    expect(more).toBeLessThan(6)
    await storeDueLetters(database.owner, 1, 100 + more)
    await areSent(23 + more)
    await settle(sender)
  }
  expect(tries.filter((to) => hostile.includes(to)).length).toBeLessThan(20)
})
