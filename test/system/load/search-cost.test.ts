import type { SupabaseClient } from '@supabase/supabase-js'
import { expect, test } from 'vitest'
import { anApplication } from '../../support/form.ts'
import { askDesk, idsOf, type Page } from '../../support/ask-desk.ts'
import { startSignIn } from '../../support/sign-in-server.ts'
import type { Application } from '../../../src/application/application.ts'
import { valuesOf } from '../../support/sql.ts'

/** The texts that are the most costly to search in, relative to their length, each after a description. */
const costlyTexts = [
  ['characters that each fold into eighteen letters', 'ﷺ'.repeat(3_000)],
  ['words of one letter', 'a b c d e f g h i j '.repeat(80)],
  ['each letter that Unicode does not decompose', 'øłđßæıŧħŋþ '.repeat(80)],
  ['words that begin with one character', Array.from({ length: 160 }, (_, index) => `静${index}`).join(' ')],
] as const

/** A word that the ordinary applications have, and the beginning of another in a script without spaces. */
const searches = ['silence', '静']

// break: search-folds-without-end
test('after a hundred applications with costly texts, a search or a count folds less than ten times as much text as before', async () => {
  const newServer = await startSignIn()
  const { client: caller } = await newServer.signedIn()
  const { owner } = newServer.database
  const storeAll = (rows: Application[]) =>
    owner`insert into public.retreat_applications ${valuesOf(rows.map((row) => ({ ...row })))} returning id`
  const fortyWords = (index: number) =>
    Array.from({ length: 40 }, (_, position) => `w${(index * position) % 997}`).join(' ')
  for (let batch = 0; batch < 2; batch += 1) {
    await storeAll(
      Array.from({ length: 550 }, (_, index) =>
        anApplication({ reason: `silence 静寂 ${fortyWords(index)}` }),
      ),
    )
  }
  // Replaces `folded`, which removes accents and case, with a function that also counts the bytes that it gets.
  await owner.unsafe(`
    do $$ begin
      execute replace(pg_get_functiondef('private.folded(text)'::regprocedure), 'private.folded', 'private.fold');
    end $$;
    create or replace function private.folded(said text) returns text language plpgsql immutable parallel safe as $$
    begin
      perform set_config('test.octets', (
        coalesce(nullif(current_setting('test.octets', true), ''), '0')::integer + octet_length(said))::text, true);
      return private.fold(said);
    end $$`)
  /** The bytes that a call folds and splits into words: the slow part of a search. */
  const octetsOf = async (name: string, search: string) => {
    const { data } = (await caller.auth.getClaims()) ?? {}
    return owner.begin(async (transaction) => {
      await transaction`
        select set_config('request.jwt.claims', ${JSON.stringify(data?.claims)}, true), set_config('test.octets', '0', true)`
      await transaction.unsafe(`select public.desk_${name}(filter => $1::text::jsonb)`, [
        JSON.stringify({ search }),
      ])
      const [row] = await transaction<{ octets: string }[]>`select current_setting('test.octets') as octets`
      return Number(row?.octets)
    })
  }
  const readOctets = async () => {
    const octets: number[] = []
    for (const search of searches)
      for (const name of ['list', 'overview']) octets.push(await octetsOf(name, search))
    return octets
  }
  const before = await readOctets()
  expect(Math.min(...before)).toBeGreaterThan(0)
  for (const [title, reason] of costlyTexts) {
    await storeAll(Array.from({ length: 100 }, () => anApplication({ reason })))
    const octets = await readOctets()
    // In an earlier version, the ratio was thirty.
    const ratio = Math.max(...octets.map((each, index) => each / (before[index] ?? 0)))
    expect({ title, isBounded: ratio < 10, ratio }).toMatchObject({ title, isBounded: true })
  }

  // Words at the end of the searched text are found, also by an organiser who reads blind.
  const long = (end: string) => `${'a b c d e '.repeat(990).slice(0, 9900)} ${end}`
  const matching = (
    await storeAll(Array.from({ length: 20 }, () => anApplication({ reason: long('silence') })))
  ).map((row) => String(row['id']))
  await storeAll(
    Array.from({ length: 20 }, () => anApplication({ last_name: 'silence', reason: long('noise') })),
  )
  const findAll = async (reader: SupabaseClient) => {
    const found: string[] = []
    let after: Page['next'] = null
    do {
      const page: Page = await askDesk<Page>(reader, 'export', { filter: { search: 'silence' }, after })
      found.push(...idsOf(page))
      after = page.next
    } while (after !== null)
    return found
  }
  expect(await findAll(caller)).toHaveLength(1100 + 20 + 20)
  await askDesk(caller, 'set_blind', { blind: true })
  const found = await findAll(caller)
  expect(found).toHaveLength(1100 + 20)
  expect(found).toEqual(expect.arrayContaining(matching))
  // Once a text is changed in the database, its former words are not found.
  await owner`update public.retreat_applications set reason = ${long('noise')} where id = ${matching[0] ?? ''}`
  expect(await findAll(caller)).toHaveLength(1100 + 19)
})
