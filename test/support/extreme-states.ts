import type { Page } from 'playwright-core'

import type { PageVisits } from '../../src/client/desk/retreat.ts'
import { people } from './applicants.ts'
import { getDesk } from './desk-page.ts'
import { signedInClient, type DeskServer } from './desk.ts'
import { anApplication } from './form.ts'
import { valuesOf } from './sql.ts'
import { resetRetention } from './retention.ts'
import { activateWindow } from './refresh.ts'

const longName = 'Wolfeschlegelsteinhausenbergerdorff'

/** An error in the format of the data interface. */
const refusal = { code: 'XX000', message: longName, details: null, hint: null }

const extremes = [
  { first_name: 'Ada', last_name: 'Lovelace', email: 'ada@example.com', company: 'Engines' },
  {
    first_name: longName.repeat(2),
    last_name: 'L',
    email: `${longName}@${longName}.example`,
    phone: 'call me',
    linkedin: 'javascript:alert(1)',
    company: longName.repeat(3),
    paid_solution: 'custom',
    custom_solution: longName.repeat(4),
    reason: `${longName.repeat(9)}\n\n${'To think. '.repeat(200)}`,
  },
  { first_name: 'Ada', last_name: 'L', email: 'ADA@example.com', company: 'Looms', team_size: '' },
  ...people(5),
] as const

type Desk = Pick<DeskServer, 'sql' | 'signedIn'>

const decide = async (desk: Desk, decisions: { id: string; version: number; status: string }[]) => {
  const bob = await signedInClient(desk, 'bob@example.org')
  await bob.rpc('desk_decide', { act: crypto.randomUUID(), decisions }).throwOnError()
}

/** Stores extreme applications, the newest first: short, long, hostile, and two from one email address. */
export async function storeExtremes(desk: Desk): Promise<void> {
  await desk.sql`delete from public.retreat_applications`
  await resetRetention(desk.sql)
  const rows = extremes.map((answers, index) => ({
    ...anApplication(answers),
    created_at: new Date(Date.now() - (index + 1) * 60_000),
  }))
  const [first, second] = await desk.sql<{ id: string }[]>`
    insert into public.retreat_applications ${valuesOf(rows)} returning id`
  await decide(desk, [
    { id: first?.id ?? '', version: 0, status: 'accepted' },
    { id: second?.id ?? '', version: 0, status: 'declined' },
  ])
}

export async function openApplication(page: Page, name: string): Promise<void> {
  await getDesk(page).link(name).click()
  await getDesk(page).note.waitFor()
}

/** Makes two decisions that fail to be saved. */
export async function makeUnsavedDecisions(page: Page): Promise<void> {
  await getDesk(page).select('Ada Lovelace').check()
  await getDesk(page).select('Ada L').check()
  await page.route('**/rpc/desk_decide', (route) => route.fulfill({ status: 403, json: refusal }))
  await getDesk(page).button('Decline').click()
  await getDesk(page).alert.getByText('and 1 other').waitFor()
}

/** Visits with large numbers, and with names of the maximum length. */
const visitsOfMonths: PageVisits = {
  is_counted: true,
  days: Array.from({ length: 90 }, (_, index) => ({
    day: new Date(Date.UTC(2026, 8, 1 + index)).toISOString().slice(0, 10),
    visits: index < 80 ? 0 : 1_234_567 - index,
    starts: index % 7,
    applications: 0,
  })),
  sources: ['', 'w'.repeat(40), '-'.repeat(40), 'newsletter', 'other'].map((source, index) => ({
    source,
    visits: 10 ** (7 - index),
  })),
}

/** States of the desk with long or hostile content or with failures, and how an organiser reaches each from the list. */
export const extremeStates: Record<string, (page: Page, desk: Desk) => Promise<void>> = {
  async glance(page) {
    await page.route('**/rpc/desk_visits', (route) => route.fulfill({ json: visitsOfMonths }))
    const charts = getDesk(page).button('Charts')
    // On a phone the button is among the filters.
    if (!(await charts.isVisible())) await getDesk(page).button('Filters').click()
    await charts.click()
    await page.getByRole('region', { name: 'Visits' }).getByRole('figure').first().waitFor()
  },
  async filtered(page) {
    await getDesk(page).button('Filters').click()
    await page.getByLabel('Team size').selectOption('10+')
    await page.getByText(/^(Nothing in New|No application matches)\./).waitFor()
  },
  problems: makeUnsavedDecisions,
  async unread(page) {
    await page.route('**/rpc/desk_list', (route) => route.fulfill({ status: 400, json: refusal }))
    await getDesk(page).tab('Declined').click()
    await page.getByRole('alert').getByText(longName).waitFor()
  },
  'long-answers': (page) => openApplication(page, `${longName.repeat(2)} L`),
  async 'long-letters'(page) {
    await openApplication(page, `${longName.repeat(2)} L`)
    for (const text of [longName, longName.repeat(3)]) {
      await getDesk(page).button('Write from scratch').click()
      await page.getByLabel('Subject').fill(text)
      await page.getByLabel('Text', { exact: true }).fill(text)
      if (text === longName) await getDesk(page).button('Save draft').click()
    }
    await page
      .locator('.drafts-draft .letters-body')
      .filter({ hasText: new RegExp(`^${longName}$`) })
      .waitFor()
  },
  async 'decided-meanwhile'(page, desk) {
    await openApplication(page, 'Person 1')
    const [row] = await desk.sql<{ id: string }[]>`
      select id from public.retreat_applications where last_name = '1'`
    await decide(desk, [{ id: row?.id ?? '', version: 0, status: 'declined' }])
    await activateWindow(page)
    await page.getByText('Changed by bob@example.org since you opened it').waitFor()
  },
  async gone(page) {
    await page.evaluate((id) => location.assign(`#/applications/${id}`), crypto.randomUUID())
    await page.getByText('There is no such application').waitFor()
  },
  async 'not-erased'(page) {
    await openApplication(page, 'Ada Lovelace')
    await getDesk(page).button('Erase').click()
    await page.getByLabel(/^Type the email/).fill('somebody else')
    await getDesk(page).button('Erase for good').click()
    await page.getByText('This is not the email').waitFor()
  },
}
