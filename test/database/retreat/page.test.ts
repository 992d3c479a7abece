import type { SupabaseClient } from '@supabase/supabase-js'
import { beforeAll, beforeEach, expect, test } from 'vitest'

import { resetDatabase } from '../../support/reset.ts'
import { startSignIn, type SignInServer } from '../../support/sign-in-server.ts'
import { maxLengths, type PageWords } from '../../../src/application/page-words.ts'
import type { PageSettings } from '../../../src/client/desk/page.ts'

let server: SignInServer
let client: SupabaseClient
let me: string

beforeAll(async () => {
  server = await startSignIn()
  ;({ client, email: me } = await server.signedIn())
})

const sql = () => server.database.owner

beforeEach(() => resetDatabase(sql()))

async function save(texts: object, shown: object = {}, version = 0) {
  const { data, error } = await client.rpc('desk_set_page', { version, texts, shown })
  if (error) throw error
  return data as PageSettings
}

/** The message of a refusal, or `saved`. */
async function refusal(texts: object, version = 0) {
  const { error } = await client.rpc('desk_set_page', { version, texts, shown: {} })
  return error?.message ?? 'saved'
}

async function shownPage() {
  const [row] = await sql()<[{ words: PageWords }]>`select private.page_shown() as words`
  return row.words
}

test('a new database says nothing on the page', async () => {
  expect(await shownPage()).toEqual({})
})

test('texts are saved without blanks at their ends, and the history has the former ones', async () => {
  const first = await save({ title: ' Slow ', about: 'One.\r\n\r\nTwo.\n', accent: '#7A0019' })
  expect(first).toMatchObject({ version: 1, texts: { title: 'Slow', about: 'One.\n\nTwo.', badge: '' } })
  expect(await shownPage()).toEqual({ title: 'Slow', about: 'One.\n\nTwo.', accent: '#7a0019' })
  const { history } = await save({ title: 'Slower' }, { days: false }, 1)
  expect(history).toMatchObject([
    {
      author: me,
      kind: 'page',
      detail: { title: 'Slow', about: 'One.\n\nTwo.', accent: '#7a0019', shows_days: true },
    },
  ])
  expect(history[0]?.detail).not.toHaveProperty('badge')
})

test('a change of an older version is refused, and a repeated one changes nothing', async () => {
  await save({ title: 'Slow' })
  expect(await save({ title: 'Slow' })).toMatchObject({ version: 1 })
  expect(await refusal({ title: 'Slower' })).toBe('Somebody else changed this meanwhile.')
})

test.each(Object.entries(maxLengths).filter(([name]) => name !== 'accent' && name !== 'privacy_url'))(
  'the limit of %s is that of the settings',
  async (name, most) => {
    expect(await refusal({ [name]: '🌲'.repeat(most) })).toBe('saved')
    expect(await refusal({ [name]: '🌲'.repeat(most + 1) }, 1)).toMatch(`has at most ${most} characters.`)
  },
)

// break: privacy-link-of-any-scheme
// break: title-of-two-lines
test.each([
  ['a line break', 'title', 'Slow\nand steady'],
  ['a character that turns the text', 'about', 'Slow \u202eand'],
  ['a control character', 'about', 'Slow \u0007 and'],
  ['another scheme', 'privacy_url', 'javascript:alert(1)'],
  ['an address with a quotation mark', 'privacy_url', 'https://example.org/"onclick='],
  ['a colour with more', 'accent', '#7a0019;}'.slice(0, 7) + '}'],
  ['the name of a colour', 'accent', 'red'],
])('the page refuses %s', async (_, name, value) => {
  expect(await refusal({ [name]: value })).not.toBe('saved')
  expect(await shownPage()).toEqual({})
})

test('the page shows the days, the venue and the closing only if organisers want that', async () => {
  await sql()`update private.editions set starts_on = '2027-06-12', ends_on = '2027-06-15', venue = 'Hof Sonnenau'`
  await sql()`update private.door set closes_at = '2097-05-01 22:00+00'`
  await sql()`update private.places set zone = 'Europe/Berlin'`
  expect(await shownPage()).toEqual({
    starts_on: '2027-06-12',
    ends_on: '2027-06-15',
    venue: 'Hof Sonnenau',
    closes_on: '2097-05-01',
  })
  await sql()`update private.door set closes_at = '2097-05-01 16:00+00'`
  expect(await shownPage()).toMatchObject({
    closes_on: '2097-05-01',
    closes_at: '18:00',
    zone: 'Europe/Berlin',
  })
  const { facts } = await save({}, { days: false, venue: false, closing: false })
  expect(await shownPage()).toEqual({})
  // The desk shows what could be shown.
  expect(facts).toEqual({
    starts_on: '2027-06-12',
    ends_on: '2027-06-15',
    venue: 'Hof Sonnenau',
    closes_on: '2097-05-01',
    closes_at: '18:00',
    zone: 'Europe/Berlin',
  })
})

test('a door that has closed is no day to apply by', async () => {
  await sql()`update private.door set closes_at = now() - interval '1 hour'`
  expect(await shownPage()).toEqual({})
  await sql()`update private.door set closes_at = '2097-05-01', closed = true`
  expect(await shownPage()).toEqual({})
})
