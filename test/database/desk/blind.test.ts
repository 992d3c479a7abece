import type { SupabaseClient } from '@supabase/supabase-js'
import { expect, test } from 'vitest'
import { removeEditions } from '../../support/editions.ts'
import { anApplication } from '../../support/form.ts'
import { askDesk, type Page, type Details, type DeskHistory, type Overview } from '../../support/ask-desk.ts'
import type { DeskFunction } from '../../../src/client/desk/calls.ts'
import { valuesOf } from '../../support/sql.ts'
import { applicationDesk, aWord, noInvitation } from '../../support/application-server-for-test-file.ts'

const desk = applicationDesk()
const { store, list, openDetails } = desk

/** The fields that blind reading hides, with unique values. */
const hidden = {
  first_name: 'Xenophonia',
  last_name: 'Quillfeather',
  email: 'Zebulon.Pike@obscure-hostel.example',
  phone: '+44 7700 900123',
  linkedin: 'https://linkedin.example/in/zz-quillon',
  company: 'Marmoset Unlimited',
}

const hiddenWords =
  /xenophonia|quillfeather|zebulon|obscure|hostel|7700 900123|zz-quillon|linkedin\.example|marmoset/i

test('no call returns a hidden field to an organiser who reads blind', async () => {
  const { owner } = desk.server.database
  const word = aWord()
  const [id, second] = [
    await store({ ...hidden, reason: `${word} first`, custom_solution: 'a hammock' }),
    await store({ ...hidden, reason: `${word} second` }),
  ]
  const blind = await desk.server.signedIn()
  expect(await askDesk(blind.client, 'blind')).toMatchObject({ blind: false })
  expect(JSON.stringify(await openDetails(id, blind.client))).toMatch(hiddenWords)
  expect(await askDesk(blind.client, 'set_blind', { blind: true })).toMatchObject({ blind: true })
  expect(await askDesk(blind.client, 'blind')).toMatchObject({ blind: true })

  const [other] = await owner<[{ id: string }]>`
    select id from private.organisers join auth.users on id = account_id where email <> ${blind.email} limit 1`
  const { email: emailOfRemoved } = await desk.server.signedIn()
  const [removed] = await owner<[{ id: string }]>`select id from auth.users where email = ${emailOfRemoved}`
  const newId = () => crypto.randomUUID()
  const calls: Record<
    | DeskFunction
    | 'answer_place'
    | 'answer_questions'
    | 'door_is_open'
    | 'place_by_token'
    | 'withdraw_application'
    | 'withdrawal_by_token',
    object[]
  > = {
    desk_me: [{}],
    desk_list: [{}, { filter: { search: word } }, { filter: { status: 'accepted' } }],
    desk_meanwhile: [
      { filter: { search: word }, shown: [] },
      { filter: {}, shown: [{ id, version: 7 }] },
    ],
    desk_overview: [{}, { filter: { search: word } }],
    desk_refresh: [{ filter: { search: word }, zone: 'UTC', shown: [{ id, version: 7 }] }],
    desk_select: [{}, { filter: { search: word } }],
    desk_export: [{ filter: { search: word } }, { filter: { since: '2000-01-01' } }],
    desk_application: [
      { application: id },
      { application: second, filter: { search: word } },
      { application: id, filter: { search: hidden.last_name, order: 'oldest' } },
    ],
    desk_junk: [{}],
    desk_stamp: [{ application: id }],
    desk_blind: [{}],
    desk_mark: [{ act: newId(), application: id, mark: 'yes', why: 'Warm.' }],
    desk_set_blind: [{ blind: true }],
    desk_set_reads_only: [{ reads_only: true }],
    desk_organisers: [{}],
    desk_set_reader: [{ account: other.id, is_reader: false }],
    desk_remove_organiser: [{ account: removed.id }],
    desk_set_name: [{ name: 'Grace' }],
    desk_decide: [
      { act: newId(), decisions: [{ id, status: 'accepted', version: 0 }] },
      { act: newId(), decisions: [{ id, status: 'declined', version: 0 }] },
    ],
    desk_see_notes: [{ application: id, until: 'infinity' }],
    desk_note: [{ act: newId(), application: id, note: 'Convincing.' }],
    desk_door: [{}],
    desk_history: [{}],
    desk_set_page: [{ version: 0, texts: {}, shown: {} }],
    desk_set_door: [{ version: 0, closed: false, sentence: '' }],
    desk_erase: [{ applications: [second], email: hidden.email }],
    desk_letters: [{}],
    desk_check_mail: [{}],
    desk_drafts: [{ occasion: 'accepted' }, { occasion: 'declined' }],
    desk_outbox: [{ state: 'waiting' }, { state: 'refused' }],
    desk_letters_of: [{ applications: [id, second] }],
    desk_letter_states: [{ applications: [id, second] }],
    desk_preview: [{ subject: '{{first_name}}', body: '{{company}} {{email}}', application: id }],
    desk_send_test: [{ subject: '{{first_name}}', body: '{{company}} {{email}}', application: id }],
    desk_notices: [{}],
    desk_set_notices: [{ notices: 'each' }, { notices: 'off' }],
    desk_set_template: [{ occasion: 'Travel', version: null, subject: 'By train', body: 'At noon.' }],
    desk_write: [{ applications: [id], occasion: 'Travel' }],
    desk_release: [{ act: newId(), letters: [{ id: newId(), seen: '' }] }],
    desk_withdraw: [{ act: newId() }],
    desk_discard: [{ letters: [newId()] }],
    desk_retry: [{ letters: [newId()] }],
    desk_settle: [{ letters: [newId()] }],
    desk_stop: [{ stopped: true }, { stopped: false }],
    desk_set_letters: [{ version: 0, reply_to: 'desk@example.org' }],
    desk_remove_template: [{ occasion: 'Travel', version: 0 }],
    // The functions without calls here reveal hidden fields on purpose, or are only for organisers who read everything.
    desk_reveal: [],
    desk_all_about: [],
    door_is_open: [{}],
    desk_visits: [{}],
    desk_page: [{}],
    desk_first_steps: [{}],
    desk_tick_step: [{ step: 'read', is_done: true }],
    desk_places: [{}, { zone: 'Europe/Berlin' }],
    desk_set_places: [{ version: 0, places: 40, days: 10 }],
    desk_set_retreat: [{ version: 0, starts_on: '2027-03-12', ends_on: '2027-03-15', venue: 'Bernau' }],
    desk_set_answer: [{ act: newId(), application: id, answer: 'coming' }],
    desk_keep_until: [{ act: newId(), application: id, until: '2100-01-01' }],
    desk_remind: [{}],
    desk_questions: [{}],
    desk_guests: [{}],
    desk_set_questions: [{ version: 0, questions: [], until: null, private_days: null }],
    desk_answer_questions: [{ act: newId(), application: id, answers: {} }],
    desk_erase_answers: [{}],
    desk_retention: [{}],
    desk_set_retention: [{ version: 0, months: null, months_for_guests: null }],
    desk_hold: [{ act: newId(), application: id, reason: '' }],
    desk_erase_due: [{ act: newId() }],
    desk_name_edition: [{ edition: 1, name: 'Autumn' }],
    place_by_token: [{ token: newId() }],
    answer_place: [{ token: newId(), answer: 'coming', act: newId() }],
    answer_questions: [{ token: newId(), answers: {}, act: newId() }],
    withdrawal_by_token: [{ token: newId() }],
    withdraw_application: [{ token: newId(), is_withdrawn: true, act: newId() }],
    desk_edit: [],
    desk_write_to: [],
    desk_readdress: [],
    desk_address: [],
    desk_came_back: [],
    desk_add: [],
    desk_sent_by_hand: [],
    desk_hand_over: [],
    // The last call: those after it would list the applications of the next retreat.
    desk_begin_edition: [
      {
        act: newId(),
        newest: 1,
        name: 'Spring',
        starts_on: null,
        ends_on: null,
        copied: { templates: true },
      },
    ],
  }
  await owner`update private.postman set seen_at = now()`
  const functions = await owner<{ name: string }[]>`
    select proname as name from pg_proc where pronamespace = 'public'::regnamespace
      and has_function_privilege('authenticated', oid, 'execute') order by 1`
  expect(functions.map(({ name }) => name)).toEqual(Object.keys(calls).toSorted())
  for (const [name, all] of Object.entries(calls)) {
    for (const args of all) {
      const { data, error } = await blind.client.rpc(name, args)
      expect({ name, args, error }).toEqual({ name, args, error: null })
      expect(JSON.stringify(data).replaceAll(blind.email, '')).not.toMatch(hiddenWords)
    }
  }
  await removeEditions(owner)
  const { applications } = await list({ search: word }, blind.client)
  expect(applications).toHaveLength(1)
  expect(Object.keys(applications[0] ?? {}).toSorted()).toEqual(
    [
      'id',
      'created_at',
      'team_size',
      'paid_solution',
      'reason',
      'status',
      'version',
      'withdrawn_at',
      'same_email',
      'applied_before',
      ...Object.keys(noInvitation),
    ].toSorted(),
  )

  // Another organiser still reads everything.
  expect(JSON.stringify(await list({ search: word }))).toMatch(hiddenWords)
})

// break: blind-search-finds-name
test('the search of a blind reader covers only the reason and the custom solution, even for common words', async () => {
  const word = aWord()
  const blind = await desk.server.signedIn()
  await askDesk(blind.client, 'set_blind', { blind: true })
  await store({ ...hidden, reason: `${word} forest`, custom_solution: 'a hammock' })
  // A word so common that the search reads only the newest applications.
  const common = aWord()
  const { owner } = desk.server.database
  for (const [last_name, created_at] of [
    [common, '1975-01-01'],
    ['L', '2026-01-01'],
  ] as const) {
    for (let batch = 0; batch < 2; batch += 1) {
      const rows = Array.from({ length: 550 }, () => ({ ...anApplication({ last_name }), created_at }))
      await owner`insert into public.retreat_applications ${valuesOf(rows)}`
    }
  }
  await store({ last_name: common })
  const finds = async (search: string, caller = blind.client) => {
    const filter = { search }
    const [listed, exported, overview] = await Promise.all([
      list(filter, caller),
      askDesk<Page>(caller, 'export', { filter }),
      askDesk<Overview>(caller, 'overview', { filter }),
    ])
    return [
      listed.applications.length,
      exported.applications.length,
      overview.count,
      overview.counts['all']?.count,
    ]
  }
  for (const search of [word, `${word} hammock`, `forest ${word}`])
    expect(await finds(search)).toEqual([1, 1, 1, 1])
  for (const search of Object.values({ ...hidden, phone: 'marmoset' })) {
    expect([search, await finds(search)]).toEqual([search, [0, 0, 0, 0]])
    expect([search, await finds(`${word} ${search}`)]).toEqual([search, [0, 0, 0, 0]])
    expect([search, await finds(`${word} ${search}`, desk.client)]).toEqual([search, [1, 1, 1, 1]])
  }
  expect(await finds(common)).toEqual([0, 0, 0, 0])
  // Only the newest match is among the applications that the search reads.
  expect(await finds(common, desk.client)).toEqual([1, 1, 1, 1])
})

test('revealing shows every field, and the history records each act once, with its author', async () => {
  const id = await store(hidden)
  const [blind, second] = [await desk.server.signedIn(), await desk.server.signedIn()]
  const reveal = (caller: SupabaseClient, act: string = crypto.randomUUID()) =>
    askDesk<Details>(caller, 'reveal', { act, application: id })
  // Revealing is not recorded for an organiser who reads everything.
  expect((await reveal(desk.client)).history).toEqual([])
  for (const { client: caller } of [blind, second]) await askDesk(caller, 'set_blind', { blind: true })

  const act = crypto.randomUUID()
  const shown = await reveal(blind.client, act)
  expect(shown.application).toMatchObject(hidden)
  expect(shown.history).toMatchObject([{ act, author: blind.email, kind: 'revealed' }])
  expect((await reveal(blind.client, act)).history).toHaveLength(1)
  expect(JSON.stringify(await openDetails(id, blind.client))).not.toMatch(hiddenWords)
  // An act id that somebody else used, or that was used for something else, reveals nothing.
  const refused = { status: 409, data: null, error: { code: 'PT409' } }
  expect(await second.client.rpc('desk_reveal', { act, application: id })).toMatchObject(refused)
  const noted = crypto.randomUUID()
  await askDesk(second.client, 'note', { act: noted, application: id, note: 'A note.' })
  expect(await second.client.rpc('desk_reveal', { act: noted, application: id })).toMatchObject(refused)
  expect(await second.client.rpc('desk_reveal', { act: null, application: id })).toMatchObject({
    status: 400,
    data: null,
  })

  // Switching blind reading off is recorded once, too.
  await askDesk(blind.client, 'set_blind', { blind: false })
  await askDesk(blind.client, 'set_blind', { blind: false })
  expect(JSON.stringify(await openDetails(id, blind.client))).toMatch(hiddenWords)
  const { happenings } = await askDesk<DeskHistory>(desk.client, 'history')
  expect(
    happenings.filter(({ author }) => author === blind.email).map(({ kind, detail }) => [kind, detail]),
  ).toEqual([
    ['blind', { on: false }],
    ['blind', { on: true }],
  ])
  expect(await blind.client.rpc('desk_set_blind', { blind: null })).toMatchObject({
    status: 400,
    error: { code: '22023' },
  })
})
