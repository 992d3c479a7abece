import { expect, test } from 'vitest'

import { storeDueLetters } from '../testing/letters.ts'
import { startMailServer } from '../testing/mail-server.ts'
import { startPostgres } from '../testing/postgres.ts'
import { runCommand, startServer } from '../testing/server.ts'

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
  expect(await letters('--stop')).toBe('No letter leaves from now on.\n')
  await storeDueLetters(postgres.admin, 3)
  expect(await letters()).toMatch(/^waiting +3\n.*\nsent +0\n/m)
  expect(mails.received).toEqual([])
  expect(await letters('--start')).toBe('Letters leave again.\n')
  const states = async () =>
    (await postgres.admin<{ state: string }[]>`select state from private.letters order by 1`)
      .map(({ state }) => state)
      .join()
  await expect.poll(states).toBe('refused,sent,sent')
  const listed = await letters('--list')
  expect(listed).toMatch(/ {2}refused {2}Travel {2}a1@example\.org {2}550 no .*such user\n$/)
  expect(listed).not.toContain('\u001b')
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
  // What the log holds names nobody.
  expect(server.output()).not.toMatch(/a\d@example\.org|such user/)
  expect(await server.stop()).toBe(0)
  await Promise.all([mails.close(), postgres.close()])
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
  await storeDueLetters(postgres.admin, 300)
  const servers = await Promise.all([startServer(settings), startServer(settings)])
  const unsent = async () => (await postgres.admin`select from private.letters where state <> 'sent'`).length
  await expect.poll(unsent).toBe(0)
  const recipients = mails.received.flatMap(({ to }) => to)
  expect(recipients).toHaveLength(300)
  expect(new Set(recipients).size).toBe(300)
  // Both had a part in it.
  for (const server of servers) expect(server.output()).toContain('letter sent')
  await Promise.all(servers.map((server) => server.stop()))
  await Promise.all([mails.close(), postgres.close()])
})
