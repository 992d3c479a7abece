import { expect, test } from 'vitest'

import { storeDueLetters } from '../../support/letters.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { startPostgres } from '../../support/postgres.ts'
import { runCommand, startServer } from '../../support/server.ts'

test('a command counts, lists, retries and stops letters while a server runs', async () => {
  let isRefusing = true
  const [postgres, mailServer] = await Promise.all([
    startPostgres(),
    startMailServer({
      refusalAt: (at, address) =>
        at === 'RCPT TO' && address.startsWith('a1@') && isRefusing
          ? { code: 550, text: 'no \u001b[31msuch user' }
          : undefined,
    }),
  ])
  const settings = {
    DATABASE_URL: postgres.url(),
    SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
    MAIL_FROM: 'hello@example.org',
    MAIL_PER_MINUTE: '0',
  }
  const letters = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCommand(['letters', ...args], settings)
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^Using .*\n$/) as string })
    return stdout
  }
  const server = await startServer(settings)
  expect(server.output()).toContain(`\nEmails are sent by 127.0.0.1:${mailServer.port}.\n`)
  expect(await letters('--stop')).toBe('Letters are stopped.\n')
  await storeDueLetters(postgres.admin, 3)
  expect(await letters()).toMatch(/^waiting +3\n.*\nsent +0\n(.*\n)*Letters are stopped\. --start/m)
  expect(mailServer.received).toEqual([])
  expect(await letters('--start')).toBe('Sending resumed.\n')
  // After `--start`, as after a release, each letter can be stopped for a minute.
  expect(
    await postgres.admin`select from private.deliveries where due_at > now() + interval '30 seconds'`,
  ).toHaveLength(3)
  await postgres.admin`update private.deliveries set due_at = now()`
  const states = async () =>
    (await postgres.admin<{ state: string }[]>`select state from private.letter_deliveries order by 1`)
      .map(({ state }) => state)
      .join()
  await expect.poll(states).toBe('refused,sent,sent')
  const listed = await letters('--list')
  expect(listed).toMatch(/ {2}refused {2}mail {2}Travel {2}a1@example\.org {2}550 no .*such user\n$/)
  expect(listed).not.toContain('\u001b')
  // An applicant's address cannot forge a line.
  const rename = (email: string) => postgres.admin`
    update public.retreat_applications set email = ${email} where email like 'a1@%'`
  await rename('a1@example.org\nAll of them  sent')
  expect((await letters('--list')).split('\n')).toEqual([
    expect.stringContaining('a1@example.org All of'),
    '',
  ])
  await rename('a1@example.org')
  isRefusing = false
  expect(await letters('--retry')).toBe('1 letter will be tried again.\n')
  await expect.poll(states).toBe('sent,sent,sent')
  expect(await letters('--list')).toBe('')
  expect(await letters('--retry')).toBe('0 letters will be tried again.\n')
  expect(mailServer.received).toHaveLength(3)
  expect(await runCommand(['letters', '--stop', '--retry'], settings)).toMatchObject({
    code: 1,
    stderr: 'Use either --stop or --retry.\n',
  })
  // The list shows a pending retry with the last reply. The counts show a problem of the mail server with the next retry.
  await postgres.admin`update private.postman set problem = 'It is not there.', failing_since = now(),
    paused_until = now() + interval '1 hour'`
  await postgres.admin`
    update private.deliveries set state = 'waiting', done_at = null, due_at = now() + interval '1 hour',
      reply = '451 later' where id in (select id from private.letter_deliveries limit 1)`
  expect(await letters('--list')).toMatch(
    / {2}next try 2\S+ \S+ \(\S+\) {2}mail {2}Travel {2}\S+ {2}451 later\n$/,
  )
  expect(await letters()).toMatch(/\nLetters are waiting since 2.*: It is not there\. Next try 2.*\n$/)
  // The log has no address and no reply of the mail server.
  expect(server.output()).not.toMatch(/a\d@example\.org|such user/)
  expect(await server.stop()).toBe(0)
})
