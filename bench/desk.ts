import { randomUUID } from 'node:crypto'
import type { Browser, Page } from 'playwright-core'
import type { Sql } from 'postgres'

import { socketConnection } from '../src/server/database/connections.ts'
import { ensureChromium, launchChromium } from '../testing/browser.ts'
import { signInPage, startDesk, type DeskServer } from '../testing/desk.ts'
import { startServer, temporaryDirectory } from '../testing/server.ts'
import { insertLoad } from './load.ts'
import { paint, slowDown } from './paint.ts'
import { median, printTable, ratio, spread } from './table.ts'

const rounds = 15
const [few, many] = [1_000, 1_000_000]
/** What a figure at a million may be: so many times its time at a thousand, or so many milliseconds more. */
const mostTimes = 1.5
const mostMore = 50

/**
 * Stores applications with words as they are spread in a language: few that are in many, many that are in few. Every
 * tenth was decided on, and the newest thousand of a great number were all declined.
 */
async function fill(sql: Sql, count: number) {
  const [search] = await sql<[{ definition: string }]>`
    select indexdef as definition from pg_indexes where indexname = 'retreat_applications_search'`
  // Made anew afterwards, in a third of the time.
  await sql.unsafe(`
    drop index public.retreat_applications_search;
    insert into public.retreat_applications (
      created_at, first_name, last_name, email, phone, linkedin, company, paid_solution, custom_solution, team_size,
      reason, consent)
    select now() - (${count} - n) * interval '20 seconds',
      (array['Ada', 'Émile', 'Grace', 'Alan', 'Zoë', 'Linus', 'Barbara', 'Ken'])[1 + n % 8], 'Name' || n % 5003,
      'p' || n || '@domain' || n % 997 || '.example', '+44 20 7946 ' || n, 'https://linkedin.com/in/p' || n,
      'Company ' || n % 4001, (array['not', 'screen', 'travel', 'work', 'custom', ''])[1 + n % 6],
      case when n % 6 = 4 then 'A cabin' else '' end, (array['just-me', '1-3', '3-10', '10+', ''])[1 + n % 5],
      'I want ' || case when n % 10 = 0 then 'silence ' else '' end
        || case when n % ${count / 2} = 7 then 'xylophone ' else '' end
        || (select string_agg('w' || (power(abs(hashint4(n * 31 + k)) / 2147483648.0, 4) * 30000)::int, ' ')
            from generate_series(1, 40) as k), true
    from generate_series(1, ${count}) as n;
    update private.webhook_outbox
      set attempts = 1, delivered_at = now(), next_attempt_at = null, last_status = 200;
    insert into private.statuses (application_id, created_at, status, version)
      select id, created_at, (array['shortlisted', 'accepted', 'waitlisted', 'declined'])[1 + row % 4], 1
      from (select id, created_at, row_number() over (order by created_at desc) as row
        from public.retreat_applications) as newest
      where row % 10 = 0;
    insert into private.statuses (application_id, created_at, status, version)
      select id, created_at, 'declined', 1 from (
        select * from public.retreat_applications order by created_at desc limit ${Math.round(count / 1000)}) as newest
      on conflict do nothing;
    ${search.definition}`)
  await sql`vacuum analyze`
}

/** A server with so many applications, and an organiser who signed in. */
async function filledDesk(count: number) {
  const desk = await startDesk()
  await fill(desk.sql, count)
  return { desk, client: await desk.signedIn('ada@example.org') }
}

interface Side {
  name: string
  desk: DeskServer
  call: (name: string, given: object) => Promise<never>
  /** Applications that nobody decided on. */
  undecided: string[]
}

/** What organisers do, each as the desk asks for it. */
const acts: Record<string, (side: Side, after: unknown) => Promise<unknown>> = {
  'first list': ({ call }) => call('desk_list', { filter: {} }),
  'list of new': ({ call }) => call('desk_list', { filter: { status: 'new' } }),
  'list of shortlisted': ({ call }) => call('desk_list', { filter: { status: 'shortlisted' } }),
  'list of accepted': ({ call }) => call('desk_list', { filter: { status: 'accepted' } }),
  'list of waitlisted': ({ call }) => call('desk_list', { filter: { status: 'waitlisted' } }),
  'list of declined': ({ call }) => call('desk_list', { filter: { status: 'declined' } }),
  'next page': ({ call }, after) => call('desk_list', { filter: {}, after }),
  'opening one': ({ call, undecided }) => call('desk_application', { application: undecided[0] }),
  'a decision': ({ call, undecided }) =>
    call('desk_decide', {
      act: randomUUID(),
      decisions: [{ id: undecided.pop(), status: 'accepted', version: 0 }],
    }),
  'search, rare': ({ call }) => call('desk_list', { filter: { search: 'xylophone' } }),
  'search, common': ({ call }) => call('desk_list', { filter: { search: 'silence' } }),
  'search, in every one': ({ call }) => call('desk_list', { filter: { search: 'linkedin' } }),
  'search, a beginning that all have': ({ call }) => call('desk_list', { filter: { search: 'domain' } }),
  'search, none': ({ call }) => call('desk_list', { filter: { search: 'nobodysaidthis' } }),
  'team size and dates': ({ call }) =>
    call('desk_list', { filter: { team_size: '10+', since: '2020-01-01', until: '2100-01-01' } }),
  counts: ({ call }) => call('desk_overview', { filter: {} }),
  'counts of a search': ({ call }) => call('desk_overview', { filter: { search: 'silence' } }),
}

async function timeOf(work: () => Promise<unknown>) {
  const started = performance.now()
  await work()
  return performance.now() - started
}

/** What organisers do at a thousand applications and at a million, through our server, in turns. */
async function benchCalls() {
  const sides: Side[] = []
  for (const count of [few, many]) {
    const { desk, client } = await filledDesk(count)
    const undecided = await desk.sql<{ id: string }[]>`
      select id from public.retreat_applications left join private.statuses on application_id = id
      where application_id is null limit ${rounds + 5}`
    const call = async (name: string, given: object) =>
      (await client.rpc(name, given).throwOnError()).data as never
    sides.push({ name: count.toLocaleString('en'), desk, call, undecided: undecided.map(({ id }) => id) })
  }
  const times = new Map(Object.keys(acts).map((name) => [name, sides.map((): number[] => [])]))
  const after = await Promise.all(
    sides.map(async ({ call }) => ((await call('desk_list', { filter: {} })) as { next: unknown }).next),
  )
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, act] of Object.entries(acts)) {
      for (const [index, side] of sides.entries()) {
        const time = await timeOf(() => act(side, after[index]))
        // The first round warms up.
        if (round > 0) times.get(name)?.[index]?.push(time)
      }
    }
  }
  printTable(
    `The desk's calls, in ms (${rounds} rounds, in turns)`,
    ['', ...sides.map(({ name }) => name), 'ratio', 'more', 'within'],
    [...times].map(([name, [small = [], great = []]]) => {
      const more = median(great) - median(small)
      const isWithin = median(great) <= median(small) * mostTimes || more <= mostMore
      return [
        name,
        spread(small, 1),
        spread(great, 1),
        ratio(great, small),
        more.toFixed(1),
        isWithin ? 'yes' : 'NO',
      ]
    }),
  )
  for (const { desk } of sides) await desk.close()
}

/**
 * Inserts a second by how the search index takes what comes, beside those without it; in turns with the version that
 * lies in the folder `BESIDE`, if that is set.
 */
async function benchInserts() {
  const { BESIDE: beside } = process.env
  const ways = [
    ...(beside ? [{ name: 'the version in BESIDE', checkout: beside, change: 'select 1' }] : []),
    { name: 'without it', checkout: '.', change: 'drop index public.retreat_applications_search' },
    {
      name: 'fastupdate on',
      checkout: '.',
      change: 'alter index public.retreat_applications_search set (fastupdate = on)',
    },
    {
      name: 'fastupdate off',
      checkout: '.',
      change: 'alter index public.retreat_applications_search set (fastupdate = off)',
    },
  ]
  const sides = await Promise.all(
    ways.map(async ({ name, checkout, change }) => {
      const directory = await temporaryDirectory()
      const server = await startServer({ DATA_DIR: directory.path }, checkout)
      const sql = socketConnection(directory.path, { max: 1 })
      await sql.unsafe(change)
      await sql.end()
      return { name, directory, server, rates: [] as number[], p99: [] as number[], p999: [] as number[] }
    }),
  )
  for (let round = 0; round <= 7; round += 1) {
    for (const { server, rates, p99, p999 } of sides) {
      const load = await insertLoad(server.origin, 50, { duration: 4 })
      if (round === 0) continue
      rates.push(load.perSecond)
      p99.push(load.p99)
      p999.push(load.p999)
    }
  }
  printTable(
    'Inserts with the search index (50 connections, 7 rounds of 4 s, in turns)',
    ['', 'inserts/s', 'to the first', 'p99, ms', 'p99.9, ms'],
    sides.map(({ name, rates, p99, p999 }) => [
      name,
      spread(rates),
      ratio(rates, sides[0]?.rates ?? []),
      spread(p99),
      spread(p999),
    ]),
  )
  for (const { server, directory } of sides) {
    await server.stop()
    await directory.remove()
  }
}

/** Milliseconds from a key to what it shows, and to the word that it is kept. */
async function decisionTimes(page: Page) {
  return page.evaluate(
    () =>
      new Promise<{ shown: number; kept: number }>((resolve) => {
        const pill = document.querySelector('.application-head .pill')
        const before = pill?.textContent
        const started = performance.now()
        let shown: number | undefined
        const look = () => {
          if (pill?.textContent !== before) shown ??= performance.now() - started
          if (shown !== undefined && pill?.getAttribute('aria-busy') === 'false') {
            observer.disconnect()
            resolve({ shown, kept: performance.now() - started })
          }
        }
        const observer = new MutationObserver(look)
        observer.observe(document.body, {
          subtree: true,
          childList: true,
          characterData: true,
          attributes: true,
        })
        const label = before === 'Accepted' ? 'Decline' : 'Accept'
        const button = [...document.querySelectorAll('.bar button')].find(
          (each) => each.textContent === label,
        )
        ;(button as HTMLElement).click()
      }),
  )
}

async function benchPage() {
  const { desk, client } = await filledDesk(few)
  const signIn = signInPage(client)
  const browser: Browser = await launchChromium(ensureChromium())
  const firstPaints: number[] = []
  const fields: number[] = []
  const lists: number[] = []
  const shown: number[] = []
  const kept: number[] = []
  let bytes = 0
  for (let round = 0; round <= 7; round += 1) {
    const visit = await paint(browser, `${desk.origin}/desk`)
    const slow = await browser.newPage({ viewport: { width: 412, height: 823 } })
    await slowDown(slow)
    const field = await timeOf(async () => {
      await slow.goto(`${desk.origin}/desk`)
      await slow.getByLabel('Email').waitFor()
    })
    await slow.close()
    const context = await browser.newContext()
    const known = await context.newPage()
    await signIn(known)
    await slowDown(known)
    const list = await timeOf(async () => {
      await known.goto(`${desk.origin}/desk`)
      await known.locator('table.applications a').first().waitFor()
    })
    await known.close()
    const page = await context.newPage()
    await signIn(page)
    await page.goto(`${desk.origin}/desk`)
    await page.locator('table.applications a').first().click()
    await page.locator('.application-head .pill').waitFor()
    const times = await decisionTimes(page)
    await context.close()
    if (round === 0) continue
    bytes = visit.bytes
    firstPaints.push(visit.firstPaint)
    fields.push(field)
    lists.push(list)
    shown.push(times.shown)
    kept.push(times.kept)
  }
  printTable(
    'The desk in the browser, in ms (7 rounds)',
    ['', 'ms'],
    [
      [`slow phone: first sign of life (${(bytes / 1000).toFixed(1)} kB in all)`, spread(firstPaints)],
      ['slow phone: the field to sign in with', spread(fields)],
      ['slow phone: the first list, of who is signed in', spread(lists)],
      ['a decision is shown', spread(shown, 1)],
      ['a decision is kept', spread(kept, 1)],
    ],
  )
  await browser.close()
  await desk.close()
}

/** The desk: its calls as applications grow, what its search costs the inserts, and what an organiser waits for. */
export async function benchDesk(): Promise<void> {
  await benchCalls()
  await benchInserts()
  await benchPage()
}
