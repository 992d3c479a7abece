import { buffer } from 'node:stream/consumers'
import type { SupabaseClient } from '@supabase/supabase-js'
import type { Page } from 'playwright-core'
import { beforeAll, expect } from 'vitest'

import { deferred } from '../../support/deferred.ts'
import { csvHeader, deskColumns } from '../../../src/application/csv.ts'
import { readCsv } from '../../support/csv.ts'
import { beginEdition, removeEditions } from '../../support/editions.ts'
import { signPageIn, startDesk, type DeskServer } from '../../support/desk.ts'
import { anApplication } from '../../support/form.ts'
import { disableBackOff } from '../../support/without-back-off.ts'
import { test } from '../../support/browser-test.ts'
import { valuesOf } from '../../support/sql.ts'

let server: DeskServer
let ada: SupabaseClient

beforeAll(async () => {
  server = await startDesk()
  ada = await server.signedIn('ada@example.org')
  const { sql } = server
  // Nine of ten are accepted, which makes three pages of the export.
  const rows = Array.from({ length: 2500 }, (_, index) => ({
    ...anApplication({
      first_name: `Ada ${index}`,
      company: index === 5 ? '=1+1' : index === 6 ? 'Xylophones' : 'Engines; Analytical',
    }),
    created_at: new Date(Date.UTC(2026, 10, 1, 0, 0, index)),
  }))
  await sql`insert into public.retreat_applications ${valuesOf(rows)}`
  await sql`
    insert into private.statuses (application_id, created_at, status, version)
    select id, created_at, 'accepted', 1 from public.retreat_applications
    where extract(epoch from created_at)::int % 10 <> 0 or company = '=1+1'`
})

async function download(page: Page) {
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download CSV' }).click()
  const file = await saved
  return { name: file.suggestedFilename(), text: (await buffer(await file.createReadStream())).toString() }
}

const expectAnnouncement = async (page: Page, text: string) => {
  await expect.poll(() => page.getByRole('status').textContent()).toBe(text)
}

test('a filtered list downloads completely, with the values of the database', async ({ visitor }) => {
  const page = await visitor.open(`${server.origin}/desk#/?status=accepted`, {}, signPageIn(ada))
  const { name, text } = await download(page)
  expect(name).toMatch(/^applications-\d{4}-\d\d-\d\d\.csv$/)
  expect(text.startsWith('\ufeffid,created_at,')).toBe(true)
  const { header, rows } = readCsv(text)
  expect(`${header.join()}\r\n`).toBe(csvHeader(deskColumns))
  const stored = await server.sql<({ id: string; created_at: Date } & Record<string, string | boolean>)[]>`
    select application.*, status from public.retreat_applications as application
      join private.statuses on id = application_id
    order by application.created_at desc`
  expect(stored.length).toBeGreaterThan(2000)
  await expectAnnouncement(page, `Downloaded ${stored.length.toLocaleString('en')} applications.`)
  const blank = Object.fromEntries(header.map((column) => [column, '']))
  expect(rows).toEqual(
    stored.map((row) => ({
      ...blank,
      id: row.id,
      created_at: row.created_at.toISOString(),
      first_name: row['first_name'],
      last_name: row['last_name'],
      email: row['email'],
      phone: '+44 (20) 7946 0958',
      linkedin: row['linkedin'],
      // A formula is exported as text.
      company: row['company'] === '=1+1' ? "'=1+1" : row['company'],
      paid_solution: 'travel',
      paid_solution_label: 'Yes, travel related',
      team_size: '3-10',
      team_size_label: '3-10',
      reason: 'To think.\nWithout a screen.',
      consent: 'true',
      status: 'accepted',
    })),
  )
  expect(rows.filter(({ company }) => company === "'=1+1")).toHaveLength(1)
})

test('the file of an earlier retreat is named after it, and has its applications alone', async ({
  visitor,
}) => {
  const { sql } = server
  await beginEdition(sql, 'Spring')
  const later = anApplication({ first_name: 'Grace', company: 'Xylophones' })
  await sql`insert into public.retreat_applications ${valuesOf(later)}`
  const path = '/?edition=1&status=all&search=Xylophones'
  const page = await visitor.open(`${server.origin}/desk#${path}`, {}, signPageIn(ada))
  const { name, text } = await download(page)
  expect(name).toMatch(/^applications-of-retreat-1-\d{4}-\d\d-\d\d\.csv$/)
  expect(readCsv(text).rows).toMatchObject([{ first_name: 'Ada 6', company: 'Xylophones' }])
  await sql`delete from public.retreat_applications where edition > 1`
  await removeEditions(sql)
})

test('a download that fails or is stopped saves nothing, and says so', async ({ visitor }) => {
  visitor.allowConsoleError(/Failed to load resource/)
  const page = await visitor.open(`${server.origin}/desk#/?status=all`, {}, signPageIn(ada))
  let downloads = 0
  page.on('download', () => (downloads += 1))
  const button = page.getByRole('button', { name: 'Download CSV' })
  let calls = 0
  await page.route('**/rpc/desk_export', async (route) => {
    calls += 1
    await (calls > 2 ? route.abort() : route.continue())
  })
  await disableBackOff(page)
  await button.click()
  await page.getByText('Nothing was downloaded. The server could not be reached.').waitFor()
  // The calls load two pages, and try five times to load the third.
  expect(calls).toBe(7)

  calls = 0
  await page.unroute('**/rpc/desk_export')
  await page.route('**/rpc/desk_export', async (route) => {
    calls += 1
    if (calls !== 3) await route.continue()
  })
  await button.click()
  await page.getByText('2,000 received…').waitFor()
  await page.getByRole('button', { name: 'Stop', exact: true }).click()
  await expectAnnouncement(page, 'The download was stopped. Nothing was saved.')
  await expect.poll(() => button.evaluate((element) => element === document.activeElement)).toBe(true)
  await expect.poll(() => page.getByText('Nothing was downloaded').count()).toBe(0)

  // Leaving the list stops it, too.
  calls = 0
  await button.click()
  await page.getByText('2,000 received…').waitFor()
  await expectAnnouncement(page, 'Downloading…')
  await page.getByRole('link', { name: 'Account' }).first().click()
  await expectAnnouncement(page, 'The download was stopped. Nothing was saved.')
  await page.goBack()

  await page.unroute('**/rpc/desk_export')
  const { text } = await download(page)
  expect(readCsv(text).rows).toHaveLength(2500)
  expect(downloads).toBe(1)
})

test('a download uses a typed search before the list does, and typing does not stop a download', async ({
  visitor,
}) => {
  const page = await visitor.open(`${server.origin}/desk#/?status=all`, {}, signPageIn(ada))
  const button = page.getByRole('button', { name: 'Download CSV' })
  const field = page.getByLabel('Search')
  await page.getByText('Ada 2499').waitFor()
  let saved = page.waitForEvent('download')
  // Types and presses at once, before the debounced list refreshes.
  await field.evaluate((input: HTMLInputElement) => {
    input.focus()
    document.execCommand('insertText', false, 'xylophones')
    const [downloadButton] = [...document.querySelectorAll('button')].filter(
      ({ textContent }) => textContent === 'Download CSV',
    )
    downloadButton?.click()
  })
  const textOf = async () => (await buffer(await (await saved).createReadStream())).toString()
  expect(readCsv(await textOf()).rows).toHaveLength(1)

  await field.fill('')
  await page.getByText('Ada 2499').waitFor()
  const { promise: released, resolve: release } = deferred()
  await page.route('**/rpc/desk_export', async (route) => {
    await released
    await route.continue()
  })
  saved = page.waitForEvent('download')
  await button.click()
  await field.fill('xylophones')
  await page.getByText('Ada 2499').waitFor({ state: 'detached' })
  release()
  expect(readCsv(await textOf()).rows).toHaveLength(2500)
})

test('the charts load on request, match their tables, and show their bars in forced colours', async ({
  visitor,
}) => {
  const viewport = { width: 1280, height: 900 }
  const page = await visitor.open(`${server.origin}/desk#/?status=all`, { viewport }, signPageIn(ada))
  const cells = (caption: string) =>
    page
      .getByRole('table', { name: caption })
      .getByRole('row')
      .evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)))
  await page.getByRole('button', { name: 'Charts' }).click()
  await page.getByText('The newest 1,000').waitFor()
  expect(await cells('Applications a day')).toEqual([
    ['Day', 'Applications'],
    ['1 Nov 2026', '1,000'],
  ])
  expect(await cells('Team size')).toEqual([
    ['Team size', 'Applications'],
    ['Just me', '0'],
    ['1-3', '0'],
    ['3-10', '1,000'],
    ['10+', '0'],
    ['No answer', '0'],
  ])
  await page.emulateMedia({ forcedColors: 'active', colorScheme: 'dark' })
  const bar = page.locator('.plots-bars rect[width="1000"]').first()
  expect(await bar.evaluate((rect) => getComputedStyle(rect).fill)).toBe('rgb(255, 255, 255)')
})

test('the charts stay open or closed as each organiser left them, and work without browser storage', async ({
  visitor,
}) => {
  const page = await visitor.open(`${server.origin}/desk#/?status=all`, {}, signPageIn(ada))
  const button = page.getByRole('button', { name: 'Charts' })
  const plot = page.getByRole('figure').first()
  await button.waitFor()
  expect(await button.getAttribute('aria-expanded')).toBe('false')
  await button.click()
  await plot.waitFor()
  await page.reload()
  await plot.waitFor()

  // Another organiser signs in with the same browser.
  await signPageIn(await server.signedIn('bob@example.org'))(page)
  await page.reload()
  await button.waitFor()
  expect(await button.getAttribute('aria-expanded')).toBe('false')

  await page.addInitScript(() => {
    for (const name of ['getItem', 'setItem']) {
      const original = Reflect.get(Storage.prototype, name) as () => unknown
      const apply = (target: typeof original, storage: unknown, [key, ...rest]: string[]) => {
        if (key?.includes('plots')) throw new DOMException('Storage is forbidden.', 'SecurityError')
        return Reflect.apply(target, storage, [key, ...rest])
      }
      Reflect.set(Storage.prototype, name, new Proxy(original, { apply }))
    }
  })
  await page.reload()
  await button.click()
  await plot.waitFor()
})
