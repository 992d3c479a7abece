import { expect, test } from 'vitest'

import { letterDesk, outcomesOf } from '../../support/letter-server-for-test-file.ts'
import { factsOf } from '../../../src/application/page-words.ts'
import type { Letter, Template } from '../../../src/client/desk/letters.ts'

const { sql, ask, store, decide, drafts, release } = letterDesk()

const setRetreat = () =>
  sql()`update private.editions set starts_on = '2027-06-12', ends_on = '2027-06-15', venue = 'Hof Sonnenau'`

/** The draft of the acceptance of a new applicant. */
async function acceptance() {
  await decide(await store(), 'accepted')
  const { letters } = await drafts('accepted')
  return letters.at(-1) as Letter
}

/** Saves a text of organisers for acceptances. */
async function saveText(body: string) {
  const { templates } = await ask<{ templates: Template[] }>('letters')
  const version = templates.find(({ occasion }) => occasion === 'accepted')?.version
  await ask('set_template', { occasion: 'accepted', version, subject: '{{retreat}}', body })
}

test("the product's text names the days and the venue, and before they are set it leaves out their lines", async () => {
  const before = await acceptance()
  expect(before).toMatchObject({ subject: 'Your place at Unplugged', missing: [] })
  expect(before.body).toContain('is accepted.\n\nWe keep your place until')
  await setRetreat()
  const after = await acceptance()
  expect(after.body).toContain('\n\nWhen: 12–15 June 2027\nWhere: Hof Sonnenau\n\n')
  await sql()`update private.editions set venue = ''`
  expect((await acceptance()).body).toContain('When: 12–15 June 2027\n\nWe keep')
})

test('a letter with a placeholder that an organiser wrote is not sent before it has a value', async () => {
  await saveText('See you on {{days}} at {{venue}}.')
  const draft = await acceptance()
  expect(draft.missing).toEqual(['days', 'venue'])
  expect(outcomesOf(await release([draft]))).toEqual(['missing'])
  await setRetreat()
  const ready = await acceptance()
  expect(ready).toMatchObject({ body: 'See you on 12–15 June 2027 at Hof Sonnenau.', missing: [] })
})

test('a retreat is called as its edition, otherwise as the page, without a full stop', async () => {
  await saveText('{{retreat}}')
  const named = async () => (await acceptance()).body
  expect(await named()).toBe('Unplugged')
  await sql()`update private.page set title = 'Slow & Steady.'`
  expect(await named()).toBe('Slow & Steady')
  await sql()`update private.page set operator_title = 'Operated'`
  expect(await named()).toBe('Operated')
  await sql()`update private.editions set name = 'Spring {{answer_link}}'`
  expect(await named()).toBe('Spring { {answer_link}}')
})

test('a template with another text than that of the product has the original beside it', async () => {
  await saveText('Come!')
  const { templates } = await ask<{ templates: Template[] }>('letters')
  const originals = templates.map(({ occasion, original }) => [occasion, original?.subject])
  expect(originals).toContainEqual(['accepted', 'Your place at {{retreat}}'])
  expect(originals).toContainEqual(['declined', undefined])
})

test('a draft says the deadline that it would have today', async () => {
  const draft = await acceptance()
  const [expected] = await sql()<[{ day: string }]>`
    select (private.today() + days)::text as day from private.places`
  expect(draft.reply_by).toBe(expected.day)
  await sql()`update private.invitations set deadline = '2097-01-02', is_deadline_set = true`
  const { letters } = await drafts('accepted')
  expect(letters.at(-1)?.reply_by).toBe('2097-01-02')
})

test.each([
  ['2027-06-12', '2027-06-12'],
  ['2027-06-12', '2027-06-15'],
  ['2027-06-30', '2027-07-02'],
  ['2027-12-30', '2028-01-02'],
  ['2027-06-12', '2028-06-15'],
])('letters write the days %s to %s as the page does', async (starts_on, ends_on) => {
  const [row] = await sql()<
    [{ days: string }]
  >`select private.days_in_words(${starts_on}, ${ends_on}) as days`
  // The spaces of Intl.DateTimeFormat are thin.
  const [when] = factsOf({ starts_on, ends_on })
  expect(row.days).toBe(when?.value.replace(/\s/g, ' '))
})
