import { expect, test } from 'vitest'

import { claimLetter } from '../../support/claimed-emails.ts'
import type { ApplicationDetails } from '../../../src/client/desk/applications.ts'
import type { LettersOverview } from '../../../src/client/desk/letters.ts'
import { record } from '../../../src/server/letters/outcomes.ts'
import { retreatDesk, site, tokenIn } from '../../support/invitation-server-for-test-file.ts'

const {
  me,
  sql,
  ask,
  visit,
  store,
  decide,
  lettersOf,
  release,
  send,
  invite,
  sendRsvp,
  details,
  places,
  dayIn,
  passDeadline,
} = retreatDesk()

// break: stored-letter-has-link
test('an acceptance gets its link and deadline when it is handed to the mail server, and the desk never shows the link', async () => {
  const id = await store()
  await decide(id, 'accepted')
  const [draft] = await lettersOf(id)
  expect(draft).toMatchObject({ missing: [], unknown: [] })
  expect(draft?.body).toContain('{{answer_link}}')
  expect(await places()).toMatchObject({ not_told: 1, no_answer: 0 })
  expect(await release(id)).toBe('released')
  const { body, link } = await send()
  const [invitation] = await sql()<{ token: string }[]>`select token from private.invitations`
  expect(link).toBe(`${site}/answer/#${invitation?.token}`)
  const [row] = await sql()<
    [{ shown: string }]
  >`select to_char(private.today() + 10, 'FMDD FMMonth YYYY') as shown`
  expect(body).toContain(`You can say so here: ${link}`)
  expect(body).toContain(`until ${row.shown}.`)
  expect(body).not.toContain('{{')
  const stored = JSON.stringify([
    await lettersOf(id),
    await details(id),
    await ask('export', {}),
    await ask('list', {}),
  ])
  expect(stored).not.toContain(invitation?.token)
  expect(await places()).toMatchObject({ not_told: 0, no_answer: 1, late: 0 })
  expect((await details(id)).application).toMatchObject({
    answer_state: 'no answer',
    kept_until: await dayIn(10),
  })

  // The record of the letter has the date that was sent, also after the deadline is moved.
  await ask('keep_until', { act: crypto.randomUUID(), application: id, until: await dayIn(20) })
  const [sent] = await lettersOf(id)
  expect(sent?.body).toContain(`until ${row.shown}.`)
  expect(sent?.body).toContain('here: {{answer_link}}')
})

test('the holder of the link sees the first name and the deadline, and can change the RSVP until then', async () => {
  const { id, token } = await invite('Zoë')
  const until = await dayIn(10)
  const address = 'answers@example.org'
  expect(await visit('place_by_token', { token })).toEqual({
    state: 'open',
    first_name: 'Zoë',
    until,
    answer: null,
    address,
    retreat: null,
    questions: null,
  })
  expect((await details(id)).application.answer).toBeNull()
  const act = crypto.randomUUID()
  const coming = {
    state: 'open',
    first_name: 'Zoë',
    until,
    answer: 'coming',
    address,
    retreat: null,
    questions: null,
  }
  expect(await sendRsvp(token, 'coming', act)).toEqual(coming)
  expect(await sendRsvp(token, 'coming', act)).toEqual(coming)
  await expect(sendRsvp(token, 'not coming', act)).rejects.toMatchObject({ code: 'PT409' })
  expect(await sendRsvp(token, 'not coming')).toMatchObject({ answer: 'not coming' })
  expect((await details(id)).history.filter(({ kind }) => kind === 'answer')).toMatchObject([
    { author: 'applicant', detail: { answer: 'coming' } },
    { author: 'applicant', detail: { answer: 'not coming' } },
  ])
  await expect(sendRsvp(token, 'perhaps')).rejects.toMatchObject({ code: '22023' })
  // The day of the deadline is included.
  await sql()`update private.invitations set deadline = private.today()`
  expect(await sendRsvp(token, 'coming')).toMatchObject({ state: 'open', answer: 'coming' })
  await passDeadline(id)
  const over = { state: 'over', answer: 'coming', address }
  expect(await visit('place_by_token', { token })).toMatchObject(over)
  expect(await sendRsvp(token, 'not coming')).toMatchObject(over)
  expect(await sql()`select from private.history where kind = 'answer'`).toHaveLength(3)
})

// break: undone-acceptance-link-works
test('a wrong link and one that is no longer valid get the same response', async () => {
  const { id, token } = await invite()
  const invalid = { state: 'invalid' }
  for (const wrong of [crypto.randomUUID(), 'example', '', `${token} `, `${token}0`]) {
    expect(await visit('place_by_token', { token: wrong })).toEqual(invalid)
    expect(await sendRsvp(wrong, 'coming')).toEqual(invalid)
  }
  await decide(id, 'waitlisted')
  expect(await visit('place_by_token', { token })).toEqual(invalid)
  expect(await sendRsvp(token, 'coming')).toEqual(invalid)
  expect(await sql()`select from private.history where kind = 'answer'`).toHaveLength(0)
})

// break: token-of-one-case
test('the characters of a token are read in any case', async () => {
  const { token } = await invite()
  const capitals = token.toUpperCase()
  expect(await visit('place_by_token', { token: capitals })).toMatchObject({ state: 'open' })
  await sendRsvp(capitals, 'coming')
  expect(await visit('place_by_token', { token })).toMatchObject({ answer: 'coming' })
})

test('a rejection that is undone before it is sent keeps the link and the RSVP; a sent one ends both', async () => {
  const { id, token } = await invite()
  await sendRsvp(token, 'coming')
  await decide(id, 'declined')
  await decide(id, 'accepted')
  expect(await visit('place_by_token', { token })).toMatchObject({ state: 'open', answer: 'coming' })
  expect(await places()).toMatchObject({ coming: 1, not_told: 0 })
  await decide(id, 'declined')
  expect(await release(id)).toBe('released')
  await send()
  await decide(id, 'accepted')
  expect(await visit('place_by_token', { token })).toEqual({ state: 'invalid' })
  expect(await places()).toMatchObject({ coming: 0, not_told: 1 })
  expect(await release(id, true)).toBe('released')
  const next = tokenIn((await send()).body)
  expect(next).not.toBe(token)
  expect(await visit('place_by_token', { token: next })).toMatchObject({ state: 'open', answer: null })
  // The former RSVP stays in the history.
  expect((await details(id)).history.filter(({ kind }) => kind === 'answer')).toHaveLength(1)
})

test('a rejection that is sent although the decision was undone meanwhile ends the link', async () => {
  const { id, token } = await invite()
  await decide(id, 'declined')
  expect(await release(id)).toBe('released')
  await sql()`update private.postman set next_at = '-infinity'`
  const claim = await claimLetter(sql())
  if (claim === undefined) throw new Error('no letter is due')
  await decide(id, 'accepted')
  expect(await visit('place_by_token', { token })).toMatchObject({ state: 'open' })
  await record(sql(), claim, { result: 'done', code: 250 })
  expect(await visit('place_by_token', { token })).toEqual({ state: 'invalid' })
  expect(await release(id, true)).toBe('released')
  expect(await visit('place_by_token', { token: tokenIn((await send()).body) })).toMatchObject({
    state: 'open',
  })
})

// break: answer-placeholder-filled
test("a placeholder in an applicant's text is not filled in; without a site the link's paragraph is left out", async () => {
  const id = await store('{{answer_link}}')
  await decide(id, 'accepted')
  await sql()`update private.places set site = ''`
  expect(
    await ask('preview', {
      subject: 'Hello',
      body: 'a\n\nb {{answer_link}}\n\nc {{reply_by}}',
      application: id,
    }),
  ).toMatchObject({
    has_no_site: true,
    body: 'a\n\nc {{reply_by}}',
    reply_by: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) as string,
  })
  expect(
    await ask('preview', {
      subject: 'Hello',
      body: '{{answer_link}}',
      application: id,
      site: 'https://desk.example',
    }),
  ).toMatchObject({ has_no_site: false, body: 'https://desk.example/answer/#example' })
  expect(await release(id)).toBe('released')
  const { body, link } = await send()
  expect(link).toBeNull()
  expect(body).toContain('Hello { {answer_link}},')
  expect(body).not.toContain('You can say so here')
  expect(body).toContain('Or just reply to this email.')
})

test('somebody told without their link is known until a reminder with it is drafted, and no longer once it is sent', async () => {
  const withoutLink = async () => (await ask<LettersOverview>('letters', {})).without_link
  const told = await store()
  const id = await store()
  for (const each of [told, id]) await decide(each, 'accepted')
  await sql()`update private.places set site = ${site}`
  expect(await release(told)).toBe('released')
  await send()
  await sql()`update private.places set site = ''`
  expect(await withoutLink()).toEqual([])
  expect(await release(id)).toBe('released')
  await send()
  expect(await withoutLink()).toEqual([id])
  await sql()`update private.places set site = ${site}`
  expect(await withoutLink()).toEqual([id])
  await ask('write', {
    act: crypto.randomUUID(),
    applications: [id],
    occasion: 'reminder',
    again: true,
  })
  expect(await withoutLink()).toEqual([])
  expect(await release(id)).toBe('released')
  expect((await send()).link).toContain(`${site}/answer/#`)
  await sql()`update private.invitations set reminded_at = null`
  expect(await withoutLink()).toEqual([])
})

test.each([
  ["update private.invitations set rsvp = 'coming', rsvp_at = now()", 'an RSVP'],
  ['update private.invitations set is_accepted = false', 'another decision'],
  ['update private.invitations set reminded_at = now()', 'a reminder of the last days'],
  ['update private.statuses set withdrawn_at = now()', 'a withdrawal'],
  ['update private.invitations set deadline = private.today() - 1', 'the deadline'],
  ["insert into private.editions (id, name, began_at) values (2, 'Spring', now())", 'the retreat'],
])('nobody is offered the link that was left out after %s', async (change) => {
  const id = await store()
  await decide(id, 'accepted')
  await sql()`update private.invitations set told_at = now(), is_without_link = true`
  expect(await ask('letters', {})).toMatchObject({ without_link: [id] })
  await sql().unsafe(change)
  expect(await ask('letters', {})).toMatchObject({ without_link: [] })
})

test.each([
  ['{{', 'answer_link}}'],
  ['{', '{reply_by}}'],
  ['{{ answer_link', '}}'],
])('the names “%s” and “%s” together form no placeholder', async (first_name, last_name) => {
  const id = await store(first_name)
  await sql()`update public.retreat_applications set last_name = ${last_name} where id = ${id}`
  const body = 'Dear {{first_name}}{{last_name}}, {{first_name}} {{last_name}}.'
  await ask('set_template', { occasion: 'Travel', version: null, subject: 'Travel', body })
  await ask('write', { applications: [id], occasion: 'Travel' })
  expect(await release(id)).toBe('released')
  const sent = await send()
  expect(sent.link).toBeNull()
  expect(sent.body.replaceAll(/\s/g, '')).toBe(
    `Dear${first_name}${last_name},${first_name}${last_name}.`.replaceAll(' ', ''),
  )
})

test('a letter cannot ask for an RSVP if its recipient is not accepted, or after the deadline', async () => {
  const id = await store()
  const body = 'Here: {{answer_link}}'
  await ask('set_template', { occasion: 'Travel', version: null, subject: 'Travel', body })
  await ask('write', { applications: [id], occasion: 'Travel' })
  expect(await lettersOf(id)).toMatchObject([{ missing: ['answer_link'] }])
  expect(await release(id)).toBe('missing')
  const template = (occasion: string) => ask('set_template', { occasion, version: 0, subject: 'Hello', body })
  for (const occasion of ['declined', 'waitlisted', 'received']) {
    await expect(template(occasion)).rejects.toMatchObject({ code: '22023' })
  }
  await decide(id, 'accepted')
  await ask('write', { applications: [id], occasion: 'Travel' })
  expect(await lettersOf(id)).toMatchObject([{ missing: [] }, { missing: [] }])
  await ask('keep_until', { act: crypto.randomUUID(), application: id, until: await dayIn(3) })
  await passDeadline(id)
  expect((await lettersOf(id)).map(({ missing }) => missing.join()).toSorted()).toEqual([
    'answer_link',
    'answer_link,reply_by',
  ])
})

// break: repeated-rsvp-stored-again
test('organisers record RSVPs that people gave another way, and the newest RSVP counts', async () => {
  const { id, token } = await invite()
  const set = (given: string | null, act: string = crypto.randomUUID()) =>
    ask<ApplicationDetails>('set_answer', { act, application: id, answer: given })
  const first = crypto.randomUUID()
  expect((await set('coming', first)).application).toMatchObject({ answer_state: 'coming' })
  expect(await sendRsvp(token, 'not coming')).toMatchObject({ answer: 'not coming' })
  // A repeat after a lost response: a later RSVP stays.
  expect((await set('coming', first)).application).toMatchObject({ answer_state: 'not coming' })
  const { application, history } = await set(null)
  expect(application).toMatchObject({ answer_state: 'no answer', answered_at: null })
  expect(history.filter(({ kind }) => kind === 'answer')).toMatchObject([
    { author: me(), detail: { answer: 'coming' } },
    { author: 'applicant', detail: { answer: 'not coming' } },
    { author: me(), detail: { answer: null } },
  ])
  await decide(id, 'declined')
  await expect(set('coming')).rejects.toMatchObject({ code: 'PT409' })
})

// break: rsvp-changed-without-limit
test('an RSVP is changed at most twenty times an hour', async () => {
  const { token } = await invite()
  for (let time = 0; time < 20; time += 1) await sendRsvp(token, time % 2 === 0 ? 'coming' : 'not coming')
  await expect(sendRsvp(token, 'coming')).rejects.toMatchObject({ code: 'PT429' })
  expect(await visit('place_by_token', { token })).toMatchObject({ answer: 'not coming' })
})

test("a letter for an organiser's own mail program contains the link, and the history records that the organiser got it", async () => {
  const id = await store()
  await decide(id, 'accepted')
  await sql()`update private.places set site = '', zone = null`
  const [draft] = await lettersOf(id)
  const given = {
    letter: draft?.id,
    seen: draft?.seen,
    site: 'https://desk.example',
    zone: 'Pacific/Auckland',
  }
  const act = crypto.randomUUID()
  const handed = await ask<{ body: string }>('hand_over', { ...given, act })
  expect(handed.body).toContain('https://desk.example/answer/#')
  expect(await ask('hand_over', { ...given, act })).toEqual(handed)
  expect((await details(id)).history).toMatchObject([{ kind: 'status' }, { kind: 'link', author: me() }])
  expect(await places()).toMatchObject({ zone: 'Pacific/Auckland', not_told: 1 })
  expect(await visit('place_by_token', { token: tokenIn(handed.body) })).toMatchObject({ state: 'open' })
  await ask('sent_by_hand', { letter: draft?.id, seen: draft?.seen })
  expect(await places()).toMatchObject({ not_told: 0, no_answer: 1 })
  expect(JSON.stringify(await lettersOf(id))).not.toContain(tokenIn(handed.body))
  for (const wrong of ['javascript:alert(1)', 'https://desk.example/ x', 'https://desk.example/']) {
    await expect(ask('hand_over', { ...given, act, site: wrong })).rejects.toMatchObject({ code: '22023' })
  }
})
