import type { SupabaseClient } from '@supabase/supabase-js'
import autocannon from 'autocannon'

import { startDesk } from '../test/support/desk.ts'
import { printTable, ratio, spread } from './table.ts'

const rounds = 9
const seconds = 2
/** Sign-ins by password in a round, one after another. The limit of an IP address is 150 in five minutes. */
const signInsPerRound = 10
const password = 'correct horse'
const email = 'ada@example.org'

/** Measures sign-ins and a small call of the desk, in turns with the version in the folder that `BESIDE` names, if it is set. */
export async function benchSignIn(): Promise<void> {
  const { BESIDE: beside } = process.env
  const sides = await Promise.all(
    [
      ...(beside ? [{ name: 'the version in BESIDE', checkout: beside }] : []),
      { name: 'this version', checkout: '.' },
    ].map(async ({ name, checkout }) => {
      const desk = await startDesk({}, undefined, checkout)
      const client = await desk.signedIn(email)
      const { error } = await client.auth.updateUser({ password })
      if (error) throw error
      return { name, desk, client }
    }),
  )
  type Side = (typeof sides)[number]
  const measures: Record<string, (side: Side) => Promise<number>> = {
    'reading who is signed in': ({ desk, client }) => perSecond(`${desk.origin}/auth/v1/user`, 'GET', client),
    '`desk_me`': ({ desk, client }) => perSecond(`${desk.origin}/rest/v1/rpc/desk_me`, 'POST', client),
    'sign-ins by password': ({ client }) => signInsPerSecond(client),
  }
  const rows: string[][] = []
  for (const [what, measure] of Object.entries(measures)) {
    const rates = sides.map((): number[] => [])
    for (let round = 0; round <= rounds; round += 1) {
      for (const [index, side] of sides.entries()) {
        const rate = await measure(side)
        // The first round is a warm-up.
        if (round > 0) rates[index]?.push(rate)
      }
    }
    for (const [index, { name }] of sides.entries())
      rows.push([what, name, spread(rates[index] ?? []), ratio(rates[index] ?? [], rates[0] ?? [])])
  }
  printTable(
    `The sign-in (${rounds} rounds, in turns)`,
    ['call', 'version', 'calls a second', `ratio to ${sides[0]?.name}`],
    rows,
  )
  await Promise.all(sides.map(({ desk }) => desk.close()))
}

async function perSecond(url: string, method: 'GET' | 'POST', client: SupabaseClient) {
  const { data } = await client.auth.getSession()
  const result = await autocannon({
    url,
    method,
    connections: 10,
    duration: seconds,
    headers: {
      apikey: 'public-anon-key',
      authorization: `Bearer ${data.session?.access_token}`,
      ...(method === 'POST' && { 'content-type': 'application/json' }),
    },
    ...(method === 'POST' && { body: '{}' }),
  })
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} were refused, ${result.errors} failed`)
  return result['2xx'] / result.duration
}

async function signInsPerSecond(client: SupabaseClient) {
  const began = performance.now()
  for (let count = 0; count < signInsPerRound; count += 1) {
    const { error } = await client.auth.signInWithPassword({ email, password })
    if (error) throw error
  }
  return (signInsPerRound * 1000) / (performance.now() - began)
}
