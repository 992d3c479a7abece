import { expect, test } from 'vitest'

import { askDesk } from '../../support/desk-replies.ts'
import { applicationDesk } from '../../support/application-desk.ts'
import { countRowsRead } from '../../support/sql.ts'

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

test('erasing an application reads only the acts that name it, and removes it from their results', async () => {
  const { owner } = desk.server.database
  const [erased, kept] = [await store(), await store()]
  const decided = crypto.randomUUID()
  await desk.decide(
    [erased, kept].map((id) => ({ id, status: 'accepted', version: 0 })),
    undefined,
    decided,
  )
  const drafted = crypto.randomUUID()
  await askDesk(desk.client, 'write', { act: drafted, applications: [erased, kept], occasion: 'reminder' })
  // Acts of guests, which have no result, and of organisers.
  await owner`
    insert into private.acts (act, call, given, result)
    select gen_random_uuid(), 'other', n, case when n % 4 = 0 then jsonb_build_array(jsonb_build_object('id', gen_random_uuid())) end
    from generate_series(1, 4000) as n`
  await owner`analyze private.acts`
  const read = await owner.begin((transaction) =>
    countRowsRead(
      transaction,
      ['acts'],
      () => transaction`delete from public.retreat_applications where id = ${erased}`,
    ),
  )
  // Two acts, each found, locked and changed.
  expect(read).toBeLessThan(10)
  const named = await owner`
    select entry ->> 'id' as decision, entry ->> 'application' as letter
    from private.acts cross join jsonb_array_elements(result) as entry where act in (${decided}, ${drafted}) order by 1`
  expect(named).toEqual([
    { decision: kept, letter: null },
    { decision: null, letter: kept },
  ])
})

test('everything about a person reads only the acts about them', async () => {
  const { owner } = desk.server.database
  const id = await store()
  const decided = crypto.randomUUID()
  await desk.decide([{ id, status: 'accepted', version: 0 }], undefined, decided)
  await owner`
    insert into private.acts (act, call, given, result)
    select gen_random_uuid(), 'other', n, jsonb_build_array(jsonb_build_object('id', gen_random_uuid()))
    from generate_series(1, 4000) as n`
  await owner`analyze private.acts`
  const read = await owner.begin((transaction) =>
    countRowsRead(transaction, ['acts'], async () => {
      const [{ acts }] = await transaction<[{ acts: object[] }]>`select private.acts_about(${id}) as acts`
      expect(acts).toMatchObject([{ act: decided, result: [{ id }] }])
    }),
  )
  // By the result, and then by its id.
  // Two acts, each found, locked and changed.
  expect(read).toBeLessThan(10)
})
