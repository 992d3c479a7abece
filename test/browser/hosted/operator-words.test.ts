import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect } from 'vitest'

import { defaultLook } from '../../../src/design/look.ts'
import { anApplication, getForm } from '../../support/form.ts'
import { startReceiver, type Receiver } from '../../support/receiver.ts'
import { temporaryDirectory } from '../../support/server.ts'
import { staticHost, writeSite } from '../../support/static-site.ts'
import { accessibilityProblems, test } from '../../support/browser-test.ts'

const ownLook = {
  VITE_SITE_TITLE: 'Slow & <Steady>',
  VITE_SITE_TAGLINE: 'Four days by the lake',
  VITE_SITE_BADGE: 'Ten places, "free"',
  VITE_SITE_SUCCESS: 'Thanks!</script><script>alert(1)</script>',
  VITE_SITE_PRIVACY_URL: 'https://example.org/privacy',
  VITE_SITE_ACCENT: '7a0019',
}
const documents = ['index.html', 'answer/index.html', 'desk/index.html', '_headers']

let backend: Receiver
let directory: string

beforeAll(async () => {
  directory = (await temporaryDirectory()).path
  const cors = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' }
  backend = await startReceiver(({ method, url }, response) => {
    const isDoorCall = url.endsWith('/rpc/door_is_open')
    response.writeHead(method === 'OPTIONS' || isDoorCall ? 200 : 201, {
      ...cors,
      'content-type': 'application/json',
    })
    response.end(isDoorCall ? '{"is_open":true}' : undefined)
  })
})

/** Writes the site with these settings. Returns its documents. */
async function write(settings: Record<string, string>) {
  const site = await writeSite(directory, settings)
  return Promise.all(documents.map((name) => readFile(join(site, name), 'utf8')))
}

test('with the default words as settings, the pages of applicants have the same bytes as without settings', async () => {
  const { title, tagline, badge, success } = defaultLook
  // The desk says which words an operator has set.
  const withoutSettings = (await write({})).slice(0, 2)
  const words = {
    VITE_SITE_TITLE: title,
    VITE_SITE_TAGLINE: tagline,
    VITE_SITE_BADGE: badge,
    VITE_SITE_SUCCESS: success,
  }
  // The site ignores the settings of our own server.
  const withDefaults = await write({ ...words, SITE_TITLE: 'Slow', SITE_ACCENT: '7a0019' })
  expect(withDefaults.slice(0, 2)).toEqual(withoutSettings)
})

test("a site with an operator's own words works in a folder of a foreign host, with and without JavaScript", async ({
  visitor,
}) => {
  await write({ ...ownLook, VITE_SUPABASE_URL: backend.origin, VITE_SUPABASE_ANON_KEY: 'public' })
  const host = await staticHost(join(directory, 'dist'), '/retreat/')
  const origin = `${await host.listen({ host: '127.0.0.1', port: 0 })}/retreat/`

  for (const javaScriptEnabled of [false, true]) {
    // The Content-Security-Policy is in the document. A blocked style or script is a console error, which fails the test.
    const page = await visitor.open(origin, { javaScriptEnabled })
    expect(await page.title()).toBe(ownLook.VITE_SITE_TITLE)
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe(ownLook.VITE_SITE_TITLE)
    expect(await page.locator('.tagline').innerText()).toBe(ownLook.VITE_SITE_TAGLINE)
    expect(await page.locator('.badge').innerText()).toBe(ownLook.VITE_SITE_BADGE)
    const link = page.getByRole('link', { name: 'Privacy' })
    expect(await link.getAttribute('href')).toBe(ownLook.VITE_SITE_PRIVACY_URL)
    const form = getForm(page)
    expect(await form.button.evaluate((button) => getComputedStyle(button).backgroundColor)).toBe(
      'rgb(122, 0, 25)',
    )
    if (!javaScriptEnabled) continue
    await form.fill(anApplication())
    await form.button.click()
    await form.success.waitFor()
    expect(await page.locator('#outcome-text').innerText()).toBe(ownLook.VITE_SITE_SUCCESS)
    expect(await accessibilityProblems(page)).toEqual([])
  }
  const answer = await visitor.open(`${origin}answer/`)
  expect(await answer.getByRole('heading', { level: 1 }).innerText()).toBe('Your place at Slow & <Steady>')
  const desk = await visitor.open(`${origin}desk/`)
  await desk.getByRole('button', { name: 'Send code' }).waitFor()
  await expect.poll(() => desk.title()).toBe('Sign in · Slow & <Steady>')
})
