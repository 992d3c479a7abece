import { expect, test } from 'vitest'

import { blanks } from '../../../src/application/blank.ts'
import type { FullApplication, SelectedApplication } from '../../../src/client/desk/applications.ts'
import { letterDesk, outcomesOf } from '../../support/letter-server-for-test-file.ts'

const { sql, ask, store, decide, drafts, release, blindReader, correctTemplate } = letterDesk()

/** What a person sends who types or pastes only blanks. */
const invisible = '\u00a0\u200b\u3164'
const namesOf = async (filter: object, caller?: Parameters<typeof ask>[2]) =>
  (await ask<{ applications: SelectedApplication[] }>('list', { filter }, caller)).applications.map(
    ({ name }) => name,
  )

test('the database and the pages have the same blanks', async () => {
  const [{ said }] = await sql()<[{ said: string }]>`select private.blanks() as said`
  const characters = Array.from({ length: 0xffff }, (_, index) => String.fromCharCode(index + 1))
  expect(said).toBe(characters.filter((each) => new RegExp(`[${blanks}]`).test(each)).join(''))
})

// break: blank-name-shown
test('a row is stored as it was sent, and organisers see the email in place of a blank name', async () => {
  const email = 'ada@example.com\u200b'
  const id = await store({ first_name: invisible, last_name: ' ', email })
  await decide(id, 'waitlisted')
  expect(await sql()`select first_name, last_name, email from public.retreat_applications`).toEqual([
    { first_name: invisible, last_name: ' ', email },
  ])
  const name = 'ada@example.com'
  expect(await namesOf({})).toEqual([name])
  expect(await ask('select', {})).toMatchObject({ applications: [{ name }] })
  expect(await ask('application', { application: id })).toMatchObject({
    application: { name, first_name: invisible },
  })
  expect(await ask('places')).toMatchObject({ waitlist: [{ name }] })
  expect(await drafts('waitlisted')).toMatchObject({ letters: [{ name, to: name }] })
  const { applications } = await ask<{ applications: FullApplication[] }>('list', {}, await blindReader())
  expect(applications.map(({ name: shown }) => shown)).toEqual([undefined])
})

test('a row whose name is not blank has no other name, and one without an email either has its id', async () => {
  await store({ first_name: `${invisible}Ada`, last_name: invisible })
  expect(await namesOf({})).toEqual([undefined])
  await sql()`delete from public.retreat_applications`
  const id = await store({ first_name: invisible, last_name: invisible, email: ' ' })
  expect(await namesOf({})).toEqual([`Application ${id.slice(0, 4)}`])
})

test('a letter that quotes a blank answer has a missing placeholder and cannot be sent', async () => {
  const id = await store({ first_name: invisible })
  await decide(id, 'accepted')
  const { letters } = await drafts()
  expect(letters).toMatchObject([{ missing: ['first_name'] }])
  expect(letters[0]?.body).toMatch(/^Hello \{\{first_name\}\},/)
  expect(outcomesOf(await release(letters))).toEqual(['missing'])
})

test('a letter quotes answers without the blanks around them', async () => {
  await correctTemplate('accepted', '[{{first_name}}] [{{company}}] [{{reason}}]')
  const id = await store({
    first_name: '\u00a0Zoë ❤️\u200b',
    company: '\u3000Acme\u2060',
    reason: '\u0085Rest\u2003',
  })
  await decide(id, 'accepted')
  expect(await drafts()).toMatchObject({ letters: [{ body: '[Zoë ❤️] [Acme] [Rest]', missing: [] }] })
})

test('an email with blanks around it belongs to the same person and the same mailbox', async () => {
  await store({ email: 'ada@example.com' })
  const id = await store({ email: '\ufeffAda@Example.com\u200b' })
  expect(await ask('application', { application: id })).toMatchObject({
    application: { same_email: true },
    others: [{ id: expect.any(String) as string }],
  })
  const [row] = await sql()`
    select private.mailbox(email) as mailbox, private.address_of(id, email) as address
    from public.retreat_applications where id = ${id}`
  expect(row).toEqual({ mailbox: 'ada@example.com', address: 'Ada@Example.com' })
})

test('blanks around the words of a search change nothing, and a search of blanks finds everybody', async () => {
  const id = await store({ first_name: 'Ada\u200b', last_name: 'Lovelace\u3164' })
  const found = async (search: string) =>
    (await ask<{ applications: { id: string }[] }>('list', { filter: { search } })).applications.map(
      (each) => each.id,
    )
  for (const search of ['\u00a0ada\u200b', 'Ada Lovelace\u3164', '\u2800lovelace', invisible]) {
    expect(await found(search)).toEqual([id])
  }
})
