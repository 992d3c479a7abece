import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect } from 'vitest'

import { defaultLook } from '../../src/design/look.ts'
import { anApplication, getForm } from '../support/form.ts'
import { startReceiver, type Receiver } from '../support/receiver.ts'
import { temporaryDirectory } from '../support/server.ts'
import { buildCopy, copyCheckout, staticHost } from '../support/static-site.ts'
import { accessibilityProblems, test } from '../support/visitor.ts'

const ownLook = {
  VITE_SITE_TITLE: 'Slow & <Steady>',
  VITE_SITE_TAGLINE: 'Four days by the lake',
  VITE_SITE_BADGE: 'Ten places, "free"',
  VITE_SITE_SUCCESS: 'Thanks!</script><script>alert(1)</script>',
  VITE_SITE_PRIVACY_URL: 'https://example.org/privacy',
  VITE_SITE_ACCENT: '7a0019',
}
const documents = ['index.html', 'desk/index.html', 'answer/index.html', '_headers']

let backend: Receiver
let checkout: string

beforeAll(async () => {
  checkout = await copyCheckout(join((await temporaryDirectory()).path, 'checkout'))
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

/** Builds the site with these settings. Returns its documents. */
async function build(settings: Record<string, string>) {
  await buildCopy(checkout, settings)
  return Promise.all(documents.map((name) => readFile(join(checkout, 'dist', name), 'utf8')))
}

test('a build with the default words as settings has the same bytes as a build without settings', async () => {
  const { title, tagline, badge, success } = defaultLook
  const withoutSettings = await build({})
  const words = {
    VITE_SITE_TITLE: title,
    VITE_SITE_TAGLINE: tagline,
    VITE_SITE_BADGE: badge,
    VITE_SITE_SUCCESS: success,
  }
  // The build ignores the settings of our own server.
  expect(await build({ ...words, SITE_TITLE: 'Slow', SITE_ACCENT: '7a0019' })).toEqual(withoutSettings)
})

test("a build with an operator's own words works in a folder of a foreign host, with and without JavaScript", async ({
  visitor,
}) => {
  await build({ ...ownLook, VITE_SUPABASE_URL: backend.origin, VITE_SUPABASE_ANON_KEY: 'public' })
  const host = await staticHost(join(checkout, 'dist'), '/retreat/')
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

test('a build with a wrong setting ends with one sentence, and leaves the former site in place', async () => {
  const read = () =>
    Promise.all(documents.map((name) => readFile(join(checkout, 'dist', name), 'utf8').catch(() => 'none')))
  const before = await read()
  const failure = (settings: Record<string, string>) =>
    buildCopy(checkout, settings).then(
      () => undefined,
      ({ code, stderr }: Error & { code: number; stderr: string }) => ({ code, stderr }),
    )
  expect(await failure({ VITE_SITE_ACCENT: '#ffee99' })).toEqual({
    code: 1,
    stderr:
      'VITE_SITE_ACCENT is "#ffee99", whose contrast with the page is 1.0 to 1 but should be at least 4.5 to 1: choose a darker colour, such as "#7a6600".\n',
  })
  await writeFile(join(checkout, '.env'), 'VITE_SITE_ACCENT=#7a1f3d\n')
  expect(await failure({})).toEqual({
    code: 1,
    stderr:
      'VITE_SITE_ACCENT in .env ends before its sign #, which begins a comment: put the value in quotes.\n',
  })
  await rm(join(checkout, '.env'))
  expect(await read()).toEqual(before)
})
