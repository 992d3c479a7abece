import { expect, test } from 'vitest'

import { claimLetter } from '../../support/claimed-emails.ts'
import type { Letter, LettersOverview } from '../../../src/client/desk/letters.ts'
import { recordHeartbeat } from '../../../src/server/deliveries/record-result.ts'
import type { LetterClaim } from '../../../src/server/letters/claims.ts'
import { record } from '../../../src/server/letters/outcomes.ts'
import { letterDesk, outcomesOf, statesOf } from '../../support/letter-server-for-test-file.ts'

const { client, sql, ask, store, decide, drafts, lettersOf, release, markSent, blindReader } = letterDesk()

/** Writes a draft to one person, without a template. */
const writeTo = (application: string, changes: object = {}, caller = client()) =>
  ask<Letter>(
    'write_to',
    { act: crypto.randomUUID(), application, subject: 'One question', body: 'Can you come?', ...changes },
    caller,
  )

test('a letter to one person needs no template: it is a draft, and is sent as written', async () => {
  const [id, other] = [await store({ email: 'ada@example.org' }), await store({ reason: 'other' })]
  const act = crypto.randomUUID()
  const draft = await writeTo(id, { act })
  expect(draft).toMatchObject({ id: act, application: id, occasion: '', state: 'draft', is_edited: true })
  // A repeat after a lost response gives the same draft. The same act for another person is refused.
  expect((await writeTo(id, { act })).id).toBe(act)
  await expect(writeTo(other, { act })).rejects.toMatchObject({ code: 'PT409' })
  const second = await writeTo(id, { subject: 'Another question' })
  expect(await drafts('')).toMatchObject({ letters: [{ id: act }, { id: second.id }] })
  expect((await ask<LettersOverview>('letters')).personal).toEqual({ count: 2, more: false })
  const edited = await ask<Letter>('edit', {
    letter: act,
    seen: draft.seen,
    subject: 'One question more',
    body: 'Will you come?',
  })
  expect(outcomesOf(await release([edited, second]))).toEqual(['released', 'released'])
  await markSent()
  const sent = (await lettersOf(id)).toSorted((one, next) => one.subject.localeCompare(next.subject))
  expect(sent.toReversed()).toMatchObject([
    { subject: 'One question more', body: 'Will you come?', state: 'sent', to: 'ada@example.org' },
    { subject: 'Another question', state: 'sent' },
  ])
  // A second letter to one person is released without `again`.
  expect(outcomesOf(await release([await writeTo(id)]))).toEqual(['released'])
})

test('a letter to one person needs a text, cannot have placeholders, and is hidden from blind readers', async () => {
  const id = await store()
  const refused = { code: '22023' }
  await expect(writeTo(id, { subject: ' ' })).rejects.toMatchObject(refused)
  await expect(writeTo(id, { body: '' })).rejects.toMatchObject(refused)
  await expect(writeTo(id, { body: 'Hello {{first_name}}' })).rejects.toThrow(/no placeholders/)
  await expect(writeTo(crypto.randomUUID())).rejects.toMatchObject({ code: 'PT404' })
  const { id: letter, seen } = await writeTo(id)
  // The letter has no template to take a text from.
  await expect(ask('edit', { letter, seen, subject: '', body: '' })).rejects.toMatchObject(refused)
  const blind = await blindReader()
  await expect(writeTo(id, {}, blind)).rejects.toMatchObject(refused)
  expect((await ask<Letter[]>('letters_of', { applications: [id] }, blind))[0]).toMatchObject({
    subject: '(hidden)',
    body: '(hidden)',
  })
  await expect(
    ask('set_template', { occasion: '', version: null, subject: 's', body: 'b' }),
  ).rejects.toMatchObject(refused)
})

test('the text of a letter to one person is never lost: after a stop or another decision it is a draft again', async () => {
  const id = await store()
  const text = { subject: 'One question', body: 'Can you come?' }
  await decide(id, 'accepted')
  const [draft, waiting] = [await writeTo(id), await writeTo(id, { subject: 'Another question' })]
  await release([waiting])
  expect(await ask('withdraw', { letters: [waiting.id] })).toEqual({ withdrawn: 1, left: 0 })
  const back = (await drafts('')).letters
  expect(back).toMatchObject([
    { id: draft.id, ...text },
    { subject: 'Another question', body: text.body },
  ])
  await release(back.slice(1))
  await decide(id, 'declined')
  expect((await drafts('')).letters).toMatchObject([
    { id: draft.id, ...text },
    { subject: 'Another question', body: text.body },
  ])
  expect(statesOf((await drafts('declined')).letters)).toEqual(['declined: draft'])
  await ask('discard', { letters: [draft.id] })
  await decide(id, 'accepted')
  expect((await drafts('')).letters).toHaveLength(1)
})

const failedSends: [string, (claim: LetterClaim) => Promise<unknown>][] = [
  [
    'that the mail server defers',
    (claim) =>
      record(sql(), claim, {
        result: 'waiting',
        code: 451,
        reply: '451 later',
        isUncertain: false,
      }),
  ],
  [
    'whose server died',
    async () => {
      await sql()`update private.deliveries set due_at = now() where kind = 'letter' and state = 'sending'`
      expect(await claimLetter(sql())).toBeUndefined()
      return recordHeartbeat(sql(), 'mail sender')
    },
  ],
]

// break: personal-letter-lost
test.each(failedSends)(
  'a letter to one person %s is a draft again if a new decision was made while it was being sent',
  async (_what, end) => {
    const id = await store()
    const text = { subject: 'One question', body: 'Can you come?' }
    await release([await writeTo(id, text)])
    await sql()`update private.deliveries set due_at = now() where kind = 'letter'`
    await sql()`update private.postman set next_at = '-infinity', paused_until = '-infinity'`
    const claim = await claimLetter(sql())
    if (claim === undefined) throw new Error('no letter is due')
    await decide(id, 'waitlisted')
    expect((await drafts('')).letters).toEqual([])
    await end(claim)
    expect((await drafts('')).letters).toMatchObject([text])
    expect(statesOf(await lettersOf(id)).toSorted()).toEqual([': draft', ': withdrawn', 'waitlisted: draft'])
  },
)
