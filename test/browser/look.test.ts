import type { Page } from 'playwright-core'
import { beforeAll, expect } from 'vitest'

import { defaultLook } from '../../src/design/look.ts'
import { invitations, mockInvitations, newToken } from '../support/answer-page.ts'
import { anApplication, getForm } from '../support/form.ts'
import { readLinkPreview } from '../support/link-preview.ts'
import { overflow } from '../support/overflow.ts'
import { startReceiver, type Receiver } from '../support/receiver.ts'
import { dataDirectory, runCommand, startServer } from '../support/server.ts'
import { accessibilityProblems, test, waitForHydration } from '../support/visitor.ts'

const siteUrl = 'https://slow.example/'
/** Words that would break a document, a script or an attribute. */
const ownLook = {
  SITE_TITLE: 'Slow & <Steady> "now"',
  SITE_TAGLINE: `Four days' quiet</title><script>alert(1)</script>`,
  SITE_BADGE: '<img src=x onerror=alert(2)> ‏חינם',
  SITE_SUCCESS: 'Thanks!</script><script>alert(3)</script> <!-- We write in May. חופש',
  SITE_ACCENT: '#7a0019',
}
const accent = { light: 'rgb(122, 0, 25)', dark: 'rgb(255, 148, 170)' }
const longest = {
  SITE_TITLE: 'Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenxy',
  SITE_TAGLINE: 'W'.repeat(120),
  SITE_BADGE: 'W'.repeat(60),
  SITE_SUCCESS: 'W'.repeat(400),
}

let privacy: Receiver
let origin: string

async function serverWith(settings: Record<string, string>) {
  const { path } = await dataDirectory()
  return (await startServer({ DATA_DIR: path, ...settings })).origin
}

beforeAll(async () => {
  privacy = await startReceiver((_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Privacy</title>'),
  )
  origin = await serverWith({
    ...ownLook,
    SITE_URL: siteUrl,
    SITE_PRIVACY_URL: `${privacy.origin}/a?b=1&c="2"`,
  })
})

test('the default words as settings give the same bytes as no settings', async () => {
  const { title, tagline, badge, success } = defaultLook
  const words = {
    SITE_TITLE: title,
    SITE_TAGLINE: tagline,
    SITE_BADGE: ` ${badge} `,
    SITE_SUCCESS: success,
    SITE_PRIVACY_URL: '',
    SITE_ACCENT: '',
  }
  const read = async (site: string) =>
    Promise.all(
      ['/', '/answer/', '/desk'].map(async (path) => {
        const response = await fetch(site + path)
        const { 'content-security-policy': policy, etag } = Object.fromEntries(response.headers)
        return { policy, etag, html: await response.text() }
      }),
    )
  const [withoutSettings, withWords] = await Promise.all([serverWith({}), serverWith(words)])
  const documents = await read(withoutSettings)
  expect(await read(withWords)).toEqual(documents)
  // The document has no data or style that only other words need.
  expect(documents[0]?.html).not.toMatch(/privacy|success"|--word|dir="auto"/i)
})

// break: operator-words-end-script
test("an operator's own words are shown as text, before and after an application", async ({ visitor }) => {
  const page = await visitor.open(origin)
  await expectOwnWords(page)
  await waitForHydration(page)
  await expectOwnWords(page)
  await applyOn(page)
  expect(await accessibilityProblems(page)).toEqual([])
})

test("an operator's own words are the same without JavaScript", async ({ visitor }) => {
  const page = await visitor.open(origin, { javaScriptEnabled: false })
  await expectOwnWords(page)
  await applyOn(page)
  await expectOwnWords(page)
})

async function expectOwnWords(page: Page) {
  expect(await page.title()).toBe(ownLook.SITE_TITLE)
  expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe(ownLook.SITE_TITLE)
  expect(await page.locator('.tagline').innerText()).toBe(ownLook.SITE_TAGLINE)
  expect(await page.locator('.badge').innerText()).toBe(ownLook.SITE_BADGE)
  // No part of the words has become an element.
  expect(await page.locator('img').count()).toBe(0)
  expect(await page.locator('body script').count()).toBe(2)
}

async function applyOn(page: Page) {
  const form = getForm(page)
  await form.fill(anApplication())
  await form.button.click()
  await form.success.waitFor()
  expect(await page.locator('#outcome-text').innerText()).toBe(ownLook.SITE_SUCCESS)
}

test("previews of a link have the operator's title and tagline, and the picture keeps its description", async () => {
  const { tags, image } = await readLinkPreview(`${origin}/`, siteUrl)
  const tagline = ownLook.SITE_TAGLINE.replaceAll("'", '&#x27;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
  expect(tags).toMatchObject({
    description: tagline,
    'og:title': 'Slow &amp; &lt;Steady&gt; &quot;now&quot;',
    'og:description': tagline,
    'og:image:alt': 'Unplugged. Free For Founders, Apply Below',
  })
  expect(image.size).toBe('1200x630')
})

test('the link to privacy is reached by keyboard after the consent, and Back keeps what was typed', async ({
  visitor,
}) => {
  const page = await visitor.open(origin)
  const form = getForm(page)
  await form.company.fill('Analytical Engines')
  await form.consent.focus()
  await page.keyboard.press('Tab')
  const link = page.getByRole('link')
  expect(await link.evaluate((element) => element === document.activeElement)).toBe(true)
  expect(await link.innerText()).toBe('Privacy')
  expect(await form.consent.isChecked()).toBe(false)
  const box = await link.boundingBox()
  expect(box?.height).toBeGreaterThanOrEqual(44)
  expect(box?.width).toBeGreaterThanOrEqual(44)
  expect(await link.evaluate((element) => getComputedStyle(element).outlineStyle)).toBe('solid')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${privacy.origin}/**`)
  expect(privacy.received.map(({ url }) => url)).toContain('/a?b=1&c=%222%22')
  await page.goBack()
  await expect.poll(() => form.company.inputValue()).toBe('Analytical Engines')
})

for (const scheme of ['light', 'dark'] as const) {
  test(`the accent colours the button of each page, and the choice and the link of the form, ${scheme}`, async ({
    visitor,
  }) => {
    const options = { colorScheme: scheme }
    const page = await visitor.open(origin, options)
    const form = getForm(page)
    const styleOf = (selector: string, property: string, of = page) =>
      of
        .locator(selector)
        .first()
        .evaluate((element, name) => getComputedStyle(element).getPropertyValue(name), property)
    await form.consent.check()
    expect(await styleOf('button', 'background-color')).toBe(accent[scheme])
    expect(await styleOf('.privacy a', 'color')).toBe(accent[scheme])
    expect(await styleOf('[name=consent]', 'background-color')).toBe(accent[scheme])
    expect(await accessibilityProblems(page)).toEqual([])

    const answer = await visitor.open(`${origin}/answer/#${newToken()}`, options, (opened) =>
      mockInvitations(opened, () => invitations.open),
    )
    await answer.getByRole('button', { name: 'I am coming' }).waitFor()
    expect(await styleOf('#place > button', 'background-color', answer)).toBe(accent[scheme])
    expect(await answer.getByRole('heading', { level: 1 }).innerText()).toBe(
      `Your place at ${ownLook.SITE_TITLE}`,
    )
    expect(await answer.title()).toBe(`Your place at ${ownLook.SITE_TITLE}`)
    expect(await accessibilityProblems(answer)).toEqual([])

    const desk = await visitor.open(`${origin}/desk`, options)
    await desk.getByRole('button', { name: 'Send code' }).waitFor()
    await expect.poll(() => desk.title()).toBe(`Sign in · ${ownLook.SITE_TITLE}`)
    expect(await desk.locator('.desk-brand').innerText()).toBe(ownLook.SITE_TITLE)
    expect(await styleOf('form button', 'background-color', desk)).toBe(accent[scheme])
    expect(await accessibilityProblems(desk)).toEqual([])
  })
}

test('words of the greatest allowed length fit into every window, also in forced colours', async ({
  visitor,
}) => {
  const site = await serverWith({ ...longest, SITE_PRIVACY_URL: privacy.origin, SITE_ACCENT: '1f5f3a' })
  for (const [width, height, options] of [
    [320, 640, {}],
    [360, 640, { colorScheme: 'dark' }],
    [390, 844, { colorScheme: 'dark', forcedColors: 'active' }],
    [844, 390, {}],
    [1366, 650, {}],
  ] as const) {
    const page = await visitor.open(site, { viewport: { width, height }, ...options })
    const form = getForm(page)
    await form.fill(anApplication())
    await form.button.click()
    await form.success.waitFor()
    expect(await overflow(page), `${width}x${height}`).toEqual({ scroll: 0, wide: [] })
    // The words stay beside the card, and none is cut off.
    const header = await page.locator('header').evaluate((element) => {
      const right = element.getBoundingClientRect().right
      return [...element.querySelectorAll('p, h1')].map((part) => part.getBoundingClientRect().right <= right)
    })
    expect(header).toEqual([true, true, true])
    expect(await accessibilityProblems(page)).toEqual([])
  }
})

test('in forced colours the link to privacy is a link like any other', async ({ visitor }) => {
  const page = await visitor.open(origin, { colorScheme: 'dark', forcedColors: 'active' })
  const link = page.getByRole('link', { name: 'Privacy' })
  const [colour, decoration, linkText] = await link.evaluate((element) => {
    const probe = document.createElement('span')
    probe.style.color = 'LinkText'
    document.body.append(probe)
    const style = getComputedStyle(element)
    return [style.color, style.textDecorationLine, getComputedStyle(probe).color]
  })
  expect([colour, decoration]).toEqual([linkText, 'underline'])
})

test('a server with a wrong setting does not start, and says in one sentence why; so does the doctor', async () => {
  const { path: DATA_DIR } = await dataDirectory()
  for (const [name, value, sentence] of [
    [
      'SITE_ACCENT',
      'ffee99',
      'SITE_ACCENT is "#ffee99", whose contrast with the page is 1.0 to 1 but should be at least 4.5 to 1: choose a darker colour, such as "#7a6600".',
    ],
    [
      'SITE_TITLE',
      'x'.repeat(10_000),
      'SITE_TITLE has 10000 characters but may have at most 60: shorten it.',
    ],
    [
      'SITE_PRIVACY_URL',
      'javascript:alert(1)',
      'SITE_PRIVACY_URL (not shown: it may hold a password) should be an address that begins with https:// or http://.',
    ],
  ] as const) {
    const settings = { DATA_DIR, [name]: value }
    expect(await runCommand([], settings)).toEqual({ code: 1, stdout: '', stderr: `${sentence}\n` })
    const { code, stdout } = await runCommand(['doctor'], settings)
    expect(code).toBe(1)
    expect(stdout).toMatch(/^settings +wrong +/m)
    expect(stdout).toContain(sentence)
  }
})
