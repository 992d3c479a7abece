import { expect, test } from 'vitest'

import { createDesk } from '../src/client/desk.ts'
import { send } from '../testing/client.ts'
import { anApplication } from '../testing/form.ts'
import { storeDueLetters } from '../testing/letters.ts'
import { startMailServer } from '../testing/mail-server.ts'
import { signInByLink } from '../testing/organiser.ts'
import { startPostgres } from '../testing/postgres.ts'
import { startReceiver } from '../testing/receiver.ts'
import { runCommand, startServer, temporaryDirectory } from '../testing/server.ts'
import { connectToFiles } from '../testing/sql.ts'

test('letters are counted, listed, tried again and stopped by a command, beside a server', async () => {
  let refuses = true
  const [postgres, mails] = await Promise.all([
    startPostgres(),
    startMailServer({
      answer: (at, address) =>
        at === 'RCPT TO' && address.startsWith('a1@') && refuses
          ? { code: 550, text: 'no \u001b[31msuch user' }
          : undefined,
    }),
  ])
  const settings = {
    DATABASE_URL: postgres.url(),
    SMTP_URL: `smtp://127.0.0.1:${mails.port}`,
    MAIL_FROM: 'hello@example.org',
    MAIL_PER_MINUTE: '0',
  }
  const letters = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCommand(['letters', ...args], settings)
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^Using .*\n$/) as string })
    return stdout
  }
  const server = await startServer(settings)
  expect(server.output()).toContain(`\nMails leave by 127.0.0.1:${mails.port}.\n`)
  expect(await letters('--stop')).toBe('No letter leaves from now on.\n')
  await storeDueLetters(postgres.admin, 3)
  expect(await letters()).toMatch(/^waiting +3\n.*\nsent +0\n(.*\n)*No letter leaves: that was stopped\./m)
  expect(mails.received).toEqual([])
  expect(await letters('--start')).toBe('Letters leave again.\n')
  const states = async () =>
    (await postgres.admin<{ state: string }[]>`select state from private.letters order by 1`)
      .map(({ state }) => state)
      .join()
  await expect.poll(states).toBe('refused,sent,sent')
  const listed = await letters('--list')
  expect(listed).toMatch(/ {2}refused {2}mail {2}Travel {2}a1@example\.org {2}550 no .*such user\n$/)
  expect(listed).not.toContain('\u001b')
  // Whoever applies under such an address forges no line.
  const rename = (email: string) => postgres.admin`
    update public.retreat_applications set email = ${email} where email like 'a1@%'`
  await rename('a1@example.org\nAll of them  sent')
  expect((await letters('--list')).split('\n')).toEqual([
    expect.stringContaining('a1@example.org All of'),
    '',
  ])
  await rename('a1@example.org')
  refuses = false
  expect(await letters('--retry')).toBe('1 letter will be tried again.\n')
  await expect.poll(states).toBe('sent,sent,sent')
  expect(await letters('--list')).toBe('')
  expect(await letters('--retry')).toBe('0 letters will be tried again.\n')
  expect(mails.received).toHaveLength(3)
  expect(await runCommand(['letters', '--stop', '--retry'], settings)).toMatchObject({
    code: 1,
    stderr: '--stop and --retry are two things: choose one.\n',
  })
  // What is tried again is listed with the last answer, and what keeps all letters is told with the next try.
  await postgres.admin`update private.postman set problem = 'It is not there.', failing_since = now(),
    paused_until = now() + interval '1 hour'`
  await postgres.admin`
    update private.letters set state = 'waiting', sent_at = null, due_at = now() + interval '1 hour',
      answer = '451 later' where id in (select id from private.letters limit 1)`
  expect(await letters('--list')).toMatch(
    / {2}next try 2\S+ \S+ \(\S+\) {2}mail {2}Travel {2}\S+ {2}451 later\n$/,
  )
  expect(await letters()).toMatch(/\nLetters are kept since 2.*: It is not there\. Next try 2.*\n$/)
  // What the log holds names nobody.
  expect(server.output()).not.toMatch(/a\d@example\.org|such user/)
  expect(await server.stop()).toBe(0)
})

test('two servers on one database send each letter once', async () => {
  const [postgres, mails] = await Promise.all([startPostgres(), startMailServer()])
  const settings = {
    DATABASE_URL: postgres.url(),
    SMTP_URL: `smtp://127.0.0.1:${mails.port}`,
    MAIL_FROM: 'hello@example.org',
    MAIL_PER_MINUTE: '0',
  }
  await (await startServer({ ...settings, SMTP_URL: '', MAIL_FROM: '' })).stop()
  const servers = await Promise.all([startServer(settings), startServer(settings)])
  // Until both have had a part in it: one alone may be done with few before the other one looks.
  let stored = 0
  const isShared = async () => {
    await storeDueLetters(postgres.admin, 50, stored + 1)
    stored += 50
    return servers.every((server) => server.output().includes('letter sent'))
  }
  await expect.poll(isShared, { interval: 300 }).toBe(true)
  const unsent = async () => (await postgres.admin`select from private.letters where state <> 'sent'`).length
  await expect.poll(unsent).toBe(0)
  const recipients = mails.received.flatMap(({ to }) => to)
  expect(recipients).toHaveLength(stored)
  expect(new Set(recipients).size).toBe(stored)
  await Promise.all(servers.map((server) => server.stop()))
})

test('who applies has a receipt, organisers hear of it, and an automation is told of the decision', async () => {
  const [mails, receiver, directory] = await Promise.all([
    startMailServer(),
    startReceiver(),
    temporaryDirectory(),
  ])
  const settings = {
    DATA_DIR: directory.path,
    SMTP_URL: `smtp://127.0.0.1:${mails.port}`,
    MAIL_FROM: 'hello@example.org',
    MAIL_PER_MINUTE: '0',
    WEBHOOK_DECISIONS_URL: `${receiver.origin}/decisions`,
  }
  const server = await startServer(settings)
  const link = await runCommand(['organisers', '--add', 'grace@example.org'], settings)
  const { client } = await signInByLink(server.origin, link.stdout)
  const desk = createDesk(async (name, given) => (await client.rpc(name, given).throwOnError()).data)
  await desk('desk_set_letters', { version: 0, reply_to: 'team@example.org', receipts: true })
  await desk('desk_set_notices', { notices: 'each' })
  const application = anApplication({ first_name: 'Ada', email: 'ada@example.com' })
  expect(await send(server.origin, application)).toBe(201)
  const [receipt] = await mails.count(1, 'ada@example.com')
  expect(receipt).toMatchObject({ subject: 'We have your application', from: 'hello@example.org' })
  expect(receipt?.raw).toMatch(/^Reply-To: team@example\.org\r$/m)
  expect(receipt?.text).toContain('Hello Ada,')
  const [notice] = await mails.count(1, 'grace@example.org')
  const [row] = (await desk('desk_list', { filter: {} })).applications
  const id = row?.id ?? ''
  expect(notice?.text).toContain(`${server.origin}/desk#/applications/${id}`)

  const act = () => crypto.randomUUID()
  const text = { occasion: 'accepted', subject: 'Hello {{first_name}}', body: 'Come!', act: act() }
  expect(await desk('desk_send_test', text)).toEqual({ to: 'grace@example.org' })
  const [, trial] = await mails.count(2, 'grace@example.org')
  expect(trial).toMatchObject({ subject: '[Test] Hello Ada' })

  const database = connectToFiles(directory.path)
  await database`update private.letter_settings set hold = '0'`
  await database.end()
  await desk('desk_decide', { act: act(), decisions: [{ id, status: 'accepted', version: 0 }] })
  const { letters } = await desk('desk_drafts', { occasion: 'accepted', after: null })
  expect(receiver.received).toEqual([])
  await desk('desk_release', { act: act(), letters, number: null, again: false })
  const [told] = await receiver.count(1)
  expect(new URLSearchParams(told?.body).get('id')).toBe(id)
  expect(await mails.count(2, 'ada@example.com')).toMatchObject([{}, { subject: 'Your place at Unplugged' }])
  // Nobody's address is in the log.
  expect(server.output()).not.toMatch(/@example\.(com|org)/)
  expect(await server.stop()).toBe(0)
})
