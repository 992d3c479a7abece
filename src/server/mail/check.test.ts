import { expect, test } from 'vitest'

import { openTestDatabase } from '../../../test/support/database.ts'
import { startMailServer, type MailServer } from '../../../test/support/mail-server.ts'
import { startNameServer } from '../../../test/support/name-server.ts'
import { recordLog } from '../../../test/support/mail-sender.ts'
import { mailServerAt } from '../../../test/support/sign-in-server.ts'
import { readMailServer } from '../../settings/mail-settings.ts'
import { checkMail } from './check.ts'
import { startMailChecks } from './requested-checks.ts'

/** Checks a mail server, with a sender domain that does not exist. Returns the finding about the mail server. */
async function checkServer(server: Pick<MailServer, 'port'>, login = '') {
  const mailServer = readMailServer({
    SMTP_URL: `smtp://${login}127.0.0.1:${server.port}`,
    MAIL_FROM: 'Unplugged. <hello@retreat.example>',
  })
  if (mailServer === undefined) throw new Error('there is no mail server')
  const { names } = await startNameServer({})
  const [mail, sender] = await Promise.all(checkMail(mailServer, { resolver: names, timeout: 500 }))
  expect(sender).toMatchObject({ about: 'sender', verdict: 'wrong' })
  return mail
}

const user = { name: 'ada', password: 'hunter2' }

test.each([
  [
    'accepts the user and password',
    { user },
    'ada:hunter2@',
    'ok',
    /is on this machine and answers without TLS, and accepts the user and password\.$/,
  ],
  ['offers TLS', { startTls: true }, '', 'ok', /answers over TLS\.$/],
  [
    'refuses the user and password',
    { user },
    'ada:guessed@',
    'wrong',
    /^The mail server did not accept the user and password \(EAUTH, AUTH PLAIN, 535\): see SMTP_URL/,
  ],
  [
    'refuses all connections',
    { refusalAt: () => ({ code: 554 }) },
    '',
    'wrong',
    /^The mail server refused the connection .*554\): see SMTP_URL/,
  ],
  [
    'never greets',
    { refusalAt: () => 'hang' as const },
    '',
    'wrong',
    /^The mail server did not answer in time \([^()]*\): see SMTP_URL/,
  ],
])(
  'a mail server that %s is reported without any password, and gets no email',
  async (_what, options, login, verdict, text) => {
    const server = await startMailServer(options)
    const finding = await checkServer(server, login)
    expect(finding).toEqual({ about: 'mail', verdict, sentence: expect.stringMatching(text) as string })
    expect(finding?.sentence).not.toContain('hunter2')
    expect(finding?.sentence).not.toContain('guessed')
    expect(server.received).toEqual([])
  },
)

test("an unreachable mail server is reported with the operating system's message and its address", async () => {
  expect(await checkServer({ port: 1 })).toEqual({
    about: 'mail',
    verdict: 'wrong',
    sentence:
      'The mail server could not be reached (connect ECONNREFUSED 127.0.0.1:1): see SMTP_URL, which names 127.0.0.1:1.',
  })
})

test('when an organiser requests a check, one of two servers runs it once and records the findings', async () => {
  const database = await openTestDatabase()
  let greeted = 0
  const server = await startMailServer({
    refusalAt: (at) => {
      if (at === 'greeting') greeted += 1
      return undefined
    },
  })
  const { names } = await startNameServer({})
  const { log } = recordLog()
  const checks = [1, 2].map(() =>
    startMailChecks({ sql: database.server, mailServer: mailServerAt(server.port), resolver: names, log }),
  )
  const requestCheck = () => database.owner`update private.postman set check_wanted_at = now()`
  const readFindings = async () => (await database.owner`select checked_at, findings from private.postman`)[0]
  await requestCheck()
  await expect.poll(readFindings).toMatchObject({
    checked_at: expect.any(Date) as Date,
    findings: [
      { about: 'mail', verdict: 'ok', said: expect.stringMatching(/ answers without TLS/) as string },
      {
        about: 'sender',
        verdict: 'wrong',
        said: expect.stringMatching(/a domain that does not exist/) as string,
      },
    ],
  })
  const first = (await readFindings())?.['checked_at'] as Date
  await requestCheck()
  await expect.poll(async () => (await readFindings())?.['checked_at'] as Date).not.toEqual(first)
  await Promise.all(checks.map((each) => each.stop()))
  expect(greeted).toBe(2)
  expect(server.received).toEqual([])
})
