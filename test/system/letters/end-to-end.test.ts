import { expect, test } from 'vitest'

import { createDesk } from '../../../src/client/desk.ts'
import { send } from '../../support/send-application.ts'
import { anApplication } from '../../support/form.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { signInByLink } from '../../support/sign-in-by-link.ts'
import { startReceiver } from '../../support/receiver.ts'
import { runCommand, startServer, temporaryDirectory } from '../../support/server.ts'
import { connectToEmbedded } from '../../support/sql.ts'

test('an applicant gets a receipt, organisers get a notice, and an automation learns of the decision', async () => {
  const [mailServer, receiver, directory] = await Promise.all([
    startMailServer(),
    startReceiver(),
    temporaryDirectory(),
  ])
  const settings = {
    DATA_DIR: directory.path,
    SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
    MAIL_FROM: 'hello@example.org',
    MAIL_PER_MINUTE: '0',
    WEBHOOK_DECISIONS_URL: `${receiver.origin}/decisions`,
  }
  const server = await startServer(settings)
  const link = await runCommand(['organisers', '--add', 'grace@example.org'], settings)
  const { client } = await signInByLink(server.origin, link.stdout)
  const desk = createDesk(async (name, args) => (await client.rpc(name, args).throwOnError()).data)
  await desk('desk_set_letters', { version: 0, reply_to: 'team@example.org', receipts: true })
  await desk('desk_set_notices', { notices: 'each' })
  const application = anApplication({ first_name: 'Ada', email: 'ada@example.com' })
  expect(await send(server.origin, application)).toBe(201)
  const [receipt] = await mailServer.waitFor(1, 'ada@example.com')
  expect(receipt).toMatchObject({ subject: 'We have your application', from: 'hello@example.org' })
  expect(receipt?.raw).toMatch(/^Reply-To: team@example\.org\r$/m)
  expect(receipt?.text).toContain('Hello Ada,')
  const [notice] = await mailServer.waitFor(1, 'grace@example.org')
  const [row] = (await desk('desk_list', { filter: {} })).applications
  const id = row?.id ?? ''
  expect(notice?.text).toContain(`${server.origin}/desk#/applications/${id}`)

  const act = () => crypto.randomUUID()
  const text = { occasion: 'accepted', subject: 'Hello {{first_name}}', body: 'Come!', act: act() }
  expect(await desk('desk_send_test', text)).toEqual({ to: 'grace@example.org' })
  const [, testEmail] = await mailServer.waitFor(2, 'grace@example.org')
  expect(testEmail).toMatchObject({ subject: '[Test] Hello Ada' })

  const database = connectToEmbedded(directory.path)
  await database`update private.letter_settings set hold = '0'`
  await database.end()
  await desk('desk_decide', { act: act(), decisions: [{ id, status: 'accepted', version: 0 }] })
  const { letters } = await desk('desk_drafts', { occasion: 'accepted', after: null })
  expect(receiver.received).toEqual([])
  await desk('desk_release', { act: act(), letters, number: null, again: false })
  const [decision] = await receiver.waitFor(1)
  expect(new URLSearchParams(decision?.body).get('id')).toBe(id)
  expect(await mailServer.waitFor(2, 'ada@example.com')).toMatchObject([
    {},
    { subject: 'Your place at Unplugged' },
  ])
  // The log contains no email address.
  expect(server.output()).not.toMatch(/@example\.(com|org)/)
  expect(await server.stop()).toBe(0)
})
