import { expect, test } from 'vitest'

import { defaultLook } from '../../../src/design/look.ts'
import { startDispatcher } from '../../../src/server/deliveries/webhook-worker.ts'
import { startMailSender } from '../../../src/server/letters/mail-sender.ts'
import { atTestEnd } from '../../support/cleanup.ts'
import { recordLog } from '../../support/mail-sender.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { startReceiver } from '../../support/receiver.ts'
import { retreatDesk, site } from '../../support/invitation-server-for-test-file.ts'
import { mailServerAt } from '../../support/sign-in-server.ts'

const { sql, ask, visit, store, decide, lettersOf, release } = retreatDesk()
/** No more than the notices that an organiser gets within an hour. */
const people = 10

/** Starts what one server does in the background: it sends emails, and passes applications on. */
function startServer(mail: { port: number }, receiver: { origin: string }) {
  const { log } = recordLog()
  const sender = startMailSender({
    sql: sql(),
    mailServer: mailServerAt(mail.port),
    site: new URL(site),
    look: () => defaultLook,
    perMinute: 0,
    log,
  })
  const dispatcher = startDispatcher({
    sql: sql(),
    kind: 'application',
    receiver: { url: receiver.origin, secret: undefined },
    log,
    interval: 50,
  })
  atTestEnd(() => Promise.all([sender.stop(), dispatcher.stop()]))
}

const act = () => crypto.randomUUID()
const numbers = Array.from({ length: people }, (_each, index) => index)
const undelivered = () => sql()`select from private.deliveries where state <> 'done'`

test('two servers pass on each added person, send each letter that came back, and tell of each withdrawal, once', async () => {
  const [mail, receiver] = [await startMailServer(), await startReceiver()]
  startServer(mail, receiver)
  startServer(mail, receiver)
  const ids = await Promise.all(numbers.map(() => store()))
  for (const id of ids) {
    await decide(id, 'declined')
    expect(await release(id)).toBe('released')
  }
  await expect.poll(() => mail.received.length).toBe(people)
  await expect.poll(undelivered).toEqual([])

  // What came back goes to another address.
  const letters = (await Promise.all(ids.map(lettersOf))).flat()
  for (const { id } of letters) await ask('came_back', { act: act(), letter: id })
  for (const [index, { id }] of letters.entries()) {
    await ask('readdress', { act: act(), letter: id, address: `again-${index}@example.com` })
  }
  for (const index of numbers) {
    const email = `added-${index}@example.com`
    await ask('add', { act: act(), person: { first_name: 'Grace', email }, webhook: true, receipt: false })
  }
  const leaving = await Promise.all(numbers.map(() => store()))
  await ask('set_notices', { notices: 'each' })
  const links = await sql()<{ token: string }[]>`
    insert into private.withdrawal_links (application_id)
    select id from public.retreat_applications where id = any (${leaving}) returning token`
  for (const { token } of links)
    await visit('withdraw_application', { token, is_withdrawn: true, act: act() })

  await expect.poll(undelivered).toEqual([])
  const resent = mail.received.flatMap(({ to }) => to).filter((address) => address.startsWith('again-'))
  expect(resent).toHaveLength(people)
  expect(new Set(resent).size).toBe(people)
  const added = receiver.received
    .map(({ body }) => new URLSearchParams(body).get('email') ?? '')
    .filter((email) => email.startsWith('added-'))
  expect(added).toHaveLength(people)
  expect(new Set(added).size).toBe(people)
  const notices = mail.received.filter(({ subject }) => /withdr/i.test(subject))
  expect(notices).toHaveLength(people)
})
