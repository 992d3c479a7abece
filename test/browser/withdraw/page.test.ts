import type { Page } from 'playwright-core'
import { beforeAll, expect } from 'vitest'

import { anApplication } from '../../support/form.ts'
import { dataDirectory, startServer, type RunningServer } from '../../support/server.ts'
import { connectToEmbedded, valuesOf } from '../../support/sql.ts'
import { test } from '../../support/browser-test.ts'
import type { Pool } from '../../../src/server/database/connection/pool.ts'

let server: RunningServer
let sql: Pool

beforeAll(async () => {
  const directory = await dataDirectory()
  server = await startServer({ DATA_DIR: directory.path })
  sql = connectToEmbedded(directory.path)
})

/** Stores an application with the link of a receipt. Returns its id and the link's token. */
async function storeApplication() {
  const [{ id }] = await sql<[{ id: string }]>`
    insert into public.retreat_applications ${valuesOf({ ...anApplication({ first_name: 'Ada' }), created_at: '2026-11-03T12:00Z' })}
    returning id`
  const [{ token }] = await sql<[{ token: string }]>`
    insert into private.withdrawal_links (application_id) values (${id}) returning token`
  return { id, token }
}

const withdrawnAt = async (id: string) => {
  const [row] = await sql<[{ withdrawn_at: Date | null }?]>`
    select withdrawn_at from private.statuses where application_id = ${id}`
  return row?.withdrawn_at ?? null
}
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const shownText = async (page: Page) => (await page.locator('#place > *').allInnerTexts()).join(' | ')

// break: opening-withdraws
test('opening the link changes nothing, a second press withdraws, and the page restores the application', async ({
  visitor,
}) => {
  const { id, token } = await storeApplication()
  const requests: string[] = []
  // As a mail program may write it, with the punctuation behind it.
  const link = `${server.origin}/Withdraw/%23${token.toUpperCase()}).`
  visitor.allowConsoleError(/Failed to load resource.*404/)
  const page = await visitor.open(link, { isNew: true }, async (opened) => {
    opened.on('request', (request) => requests.push(`${request.method()} ${new URL(request.url()).pathname}`))
  })
  const open = 'Hello Ada, we have your application of 3 November 2026. | Withdraw my application'
  await expect.poll(() => shownText(page)).toBe(open)
  await page.evaluate(async () => {
    for (const method of ['GET', 'HEAD']) await fetch(location.href, { method })
    for (const event of ['focus', 'online', 'pageshow', 'hashchange']) dispatchEvent(new Event(event))
  })
  await expect.poll(() => shownText(page)).toBe(open)
  await button(page, 'Withdraw my application').dblclick()
  expect(await shownText(page)).toBe('Do you want to withdraw your application? | Keep it | Yes, withdraw it')
  await button(page, 'Keep it').click()
  expect(await shownText(page)).toBe(open)
  expect(requests.filter((each) => each.includes('/rpc/withdraw'))).toEqual(
    requests.filter((each) => each === 'POST /rest/v1/rpc/withdrawal_by_token'),
  )
  expect(await withdrawnAt(id)).toBeNull()

  await button(page, 'Withdraw my application').click()
  await button(page, 'Yes, withdraw it').click()
  await expect
    .poll(() => shownText(page))
    .toBe(
      'Hello Ada, your application of 3 November 2026 is withdrawn. | You can restore it until the organisers decide. | Restore my application',
    )
  expect(await page.evaluate(() => document.activeElement?.textContent)).toContain('is withdrawn.')
  expect(await withdrawnAt(id)).not.toBeNull()
  await button(page, 'Restore my application').click()
  await expect.poll(() => shownText(page)).toBe(open)
  expect(await withdrawnAt(id)).toBeNull()

  await sql`update private.statuses set status = 'declined' where application_id = ${id}`
  await page.reload()
  await expect
    .poll(() => shownText(page))
    .toBe(
      'Hello Ada, your application of 3 November 2026 can no longer be withdrawn here. | Please reply to the email instead.',
    )
})

test('a lost response is sent again as the same act, and a link that does not work gets one sentence', async ({
  visitor,
}) => {
  visitor.allowConsoleError(/Failed to load resource/)
  const { id, token } = await storeApplication()
  const page = await visitor.open(`${server.origin}/withdraw/#${token}`)
  const acts: string[] = []
  await page.route('**/rpc/withdraw_application', async (route) => {
    acts.push((route.request().postDataJSON() as { act: string }).act)
    await route.fetch()
    await route.abort('connectionreset')
  })
  await button(page, 'Withdraw my application').click()
  await button(page, 'Yes, withdraw it').click()
  await page.getByText('This may not have arrived. Please check your connection.').waitFor()
  await page.unroute('**/rpc/withdraw_application')
  await button(page, 'Try again').click()
  await page.getByText('is withdrawn.').waitFor()
  expect(new Set(acts).size).toBe(1)
  expect(await sql`select from private.history where application_id = ${id}`).toHaveLength(1)

  for (const hash of [crypto.randomUUID(), token.slice(0, -1), 'example']) {
    await page.evaluate((text) => location.assign(`#${text}`), hash)
    await expect
      .poll(() => shownText(page))
      .toBe(
        'This link does not work, or no longer: please open it from the email again, or reply to that email.',
      )
  }
})

test('without JavaScript the page says what to do, and has no form', async ({ visitor }) => {
  const page = await visitor.open(`${server.origin}/withdraw/`, { javaScriptEnabled: false })
  expect(await page.locator('.card').innerText()).toContain(
    'This page needs JavaScript to withdraw your application. Please reply to the email instead.',
  )
  expect(await page.locator('form, button').count()).toBe(0)
})
