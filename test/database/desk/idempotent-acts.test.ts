import { expect, test } from 'vitest'

import { askDesk } from '../../support/ask-desk.ts'
import { applicationDesk } from '../../support/application-server-for-test-file.ts'
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

test('values that are stored already are no change, whatever version was seen', async () => {
  const { owner } = desk.server.database
  const application = await store()
  const letter = await askDesk<{ id: string; seen: string }>(desk.client, 'write_to', {
    act: crypto.randomUUID(),
    application,
    subject: 's',
    body: 'b',
  })
  const question = { kind: 'short', text: 'Diet?', choices: [], is_required: true, is_private: false }
  const questions = [{ ...question, id: crypto.randomUUID() }]
  // Each setter with its values, the version that is stored, another version, and other values.
  const setters: [string, object, object, object, object][] = [
    [
      'set_door',
      { closed: true, sentence: 'Full.', closes_at: null, closes_after: null },
      { version: 0 },
      { version: 7 },
      { sentence: 'Later.' },
    ],
    [
      'set_letters',
      { reply_to: 'desk@example.org', receipts: true, confirmations: true },
      { version: 0 },
      { version: 7 },
      { reply_to: '' },
    ],
    [
      'set_places',
      { places: 40, days: 7, zone: 'Europe/Berlin' },
      { version: 0 },
      { version: 7 },
      { days: 8 },
    ],
    [
      'set_retreat',
      { starts_on: '2027-03-12', ends_on: '2027-03-15', venue: 'Bernau' },
      { version: 0 },
      { version: 7 },
      { venue: '' },
    ],
    ['set_retention', { months: 12, months_for_guests: 24 }, { version: 0 }, { version: 7 }, { months: 6 }],
    [
      'set_questions',
      { questions, until: null, private_days: null },
      { version: 0 },
      { version: 7 },
      { questions: [] },
    ],
    [
      'set_template',
      { occasion: 'received', subject: 's', body: 'b' },
      { version: 0 },
      { version: 7 },
      { body: 'c' },
    ],
    [
      'set_template',
      { occasion: 'Trip', subject: 's', body: 'b' },
      { version: null },
      { version: 7 },
      { body: 'c' },
    ],
    [
      'edit',
      { letter: letter.id, subject: 'S', body: 'B' },
      { seen: letter.seen },
      { seen: 'x' },
      { body: 'C' },
    ],
  ]
  const state = async () =>
    JSON.stringify([
      await owner`select * from private.door`,
      await owner`select * from private.letter_settings`,
      await owner`select * from private.places`,
      await owner`select * from private.editions`,
      await owner`select * from private.retention`,
      await owner`select * from private.questions`,
      await owner`select * from private.templates order by name`,
      await owner`select * from private.letters`,
      await owner`select * from private.history order by id`,
    ])
  for (const [name, values, stored, other, otherValues] of setters) {
    const before = await state()
    const response = await askDesk<{ version?: number; seen?: string }>(desk.client, name, {
      ...values,
      ...stored,
    })
    const current = 'seen' in stored ? { seen: response.seen } : { version: response.version }
    const after = await state()
    expect(after).not.toBe(before)
    for (const seen of [stored, other, current]) {
      expect(await askDesk(desk.client, name, { ...values, ...seen })).toEqual(response)
    }
    for (const seen of [stored, other]) {
      await expect(askDesk(desk.client, name, { ...values, ...otherValues, ...seen })).rejects.toMatchObject({
        code: 'PT409',
      })
    }
    expect(await state()).toBe(after)
  }
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
