import { expect, test } from 'vitest'

import { askDesk } from '../../support/desk-replies.ts'
import { applicationDesk } from '../../support/application-desk.ts'

const desk = applicationDesk()
const { store } = desk

test('the history recognises a repeated act once acts are forgotten, and refuses its id for another act', async () => {
  const id = await store()
  const other = await desk.server.signedIn()
  const calls: [string, Record<string, unknown>, Record<string, unknown>][] = [
    [
      'decide',
      { decisions: [{ id, status: 'accepted', version: 0 }] },
      { decisions: [{ id, status: 'declined', version: 1 }] },
    ],
    ['note', { application: id, note: 'Warm.' }, { application: id, note: 'Cold.' }],
    ['set_answer', { application: id, answer: 'coming' }, { application: id, answer: 'not coming' }],
    ['keep_until', { application: id, until: '2030-01-01' }, { application: id, until: '2031-01-01' }],
    ['hold', { application: id, reason: 'A claim.' }, { application: id, reason: '' }],
  ]
  const state = async () =>
    JSON.stringify([
      await desk.server.database.owner`select * from private.statuses`,
      await desk.server.database.owner`select * from private.invitations`,
      await desk.server.database.owner`select * from private.holds`,
      await desk.server.database.owner`select * from private.history order by id`,
    ])
  const acts = calls.map(() => crypto.randomUUID())
  for (const [index, [name, args]] of calls.entries()) {
    await askDesk(desk.client, name, { ...args, act: acts[index] })
  }
  // Acts are forgotten after a day, and no backup has them.
  await desk.server.database.owner`delete from private.acts`
  const before = await state()
  const responses: unknown[] = []
  for (const [index, [name, args, otherArgs]] of calls.entries()) {
    const act = acts[index]
    await expect(askDesk(desk.client, name, { ...otherArgs, act })).rejects.toMatchObject({ code: 'PT409' })
    await expect(askDesk(other.client, name, { ...args, act })).rejects.toMatchObject({ code: 'PT409' })
    responses.push(await askDesk(desk.client, name, { ...args, act }))
  }
  expect(responses[0]).toMatchObject([{ id, outcome: 'kept', status: 'accepted', version: 1 }])
  expect(await state()).toBe(before)
})
