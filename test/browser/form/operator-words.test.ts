import type { Page } from 'playwright-core'
import { beforeAll, expect } from 'vitest'

import { invitations, mockInvitations, newToken } from '../../support/answer-page.ts'
import { anApplication, getForm, style } from '../../support/form.ts'
import { readLinkPreview } from '../../support/link-preview.ts'
import { overflow } from '../../support/overflow.ts'
import { startReceiver, type Receiver } from '../../support/receiver.ts'
import { dataDirectory, runCommand, startServer } from '../../support/server.ts'
import { accessibilityProblems, test, waitForTakeOver } from '../../support/browser-test.ts'

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

// break: operator-words-end-script
test("an operator's own words are shown as text, before and after an application", async ({ visitor }) => {
  const page = await visitor.open(origin)
  await expectOwnWords(page)
  await waitForTakeOver(page)
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

test("previews of a link have the operator's title and tagline, and a picture without the default words", async () => {
  const { tags, image } = await readLinkPreview(`${origin}/`, siteUrl)
  const tagline = ownLook.SITE_TAGLINE.replaceAll("'", '&#x27;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
  expect(tags).toMatchObject({
    description: tagline,
    'og:title': 'Slow &amp; &lt;Steady&gt; &quot;now&quot;',
    'og:description': tagline,
    'og:image:alt': 'Slow &amp; &lt;Steady&gt; &quot;now&quot;: a low sun above green hills',
  })
  expect(tags['og:image']).toMatch(/\/preview-wordless-[\w-]+\.png$/)
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
  expect(await link.innerText()).toBe('Privacy policy')
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

const schemes = ['light', 'dark'] as const

test('the accent colours the button of each page, and the choice and the link of the form, in light and dark', async ({
  visitor,
}) => {
  const styleOf = (page: Page, selector: string, property: string) =>
    page.locator(selector).first().evaluate(style, property)

  const page = await visitor.open(origin)
  await getForm(page).consent.check()
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme })
    await expect.poll(() => styleOf(page, 'button', 'background-color')).toBe(accent[colorScheme])
    expect(await styleOf(page, '.privacy a', 'color')).toBe(accent[colorScheme])
    expect(await styleOf(page, '[name=consent]', 'background-color')).toBe(accent[colorScheme])
    expect(await accessibilityProblems(page)).toEqual([])
  }

  const answer = await visitor.open(`${origin}/answer/#${newToken()}`, {}, (opened) =>
    mockInvitations(opened, () => invitations.open),
  )
  await answer.getByRole('button', { name: 'I am coming' }).waitFor()
  const title = `Your place at ${ownLook.SITE_TITLE}`
  expect(await answer.getByRole('heading', { level: 1 }).innerText()).toBe(title)
  expect(await answer.title()).toBe(title)
  for (const colorScheme of schemes) {
    await answer.emulateMedia({ colorScheme })
    await expect.poll(() => styleOf(answer, '#place > button', 'background-color')).toBe(accent[colorScheme])
    expect(await accessibilityProblems(answer)).toEqual([])
  }

  const desk = await visitor.open(`${origin}/desk`)
  await desk.getByRole('button', { name: 'Send code' }).waitFor()
  await expect.poll(() => desk.title()).toBe(`Sign in · ${ownLook.SITE_TITLE}`)
  expect(await desk.locator('.desk-brand').innerText()).toBe(ownLook.SITE_TITLE)
  for (const colorScheme of schemes) {
    await desk.emulateMedia({ colorScheme })
    await expect.poll(() => styleOf(desk, 'form button', 'background-color')).toBe(accent[colorScheme])
    expect(await accessibilityProblems(desk)).toEqual([])
  }
})

test('words of the greatest allowed length fit into every window, also in forced colours', async ({
  visitor,
}) => {
  const site = await serverWith({ ...longest, SITE_PRIVACY_URL: privacy.origin, SITE_ACCENT: '1f5f3a' })
  const page = await visitor.open(site)
  const form = getForm(page)
  await form.fill(anApplication())
  await form.button.click()
  await form.success.waitFor()
  for (const [width, height, colorScheme, forcedColors] of [
    [320, 640, 'light', 'none'],
    [360, 640, 'dark', 'none'],
    [390, 844, 'dark', 'active'],
    [844, 390, 'light', 'none'],
    [1366, 650, 'light', 'none'],
  ] as const) {
    await page.setViewportSize({ width, height })
    await page.emulateMedia({ colorScheme, forcedColors })
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
    const { color, textDecorationLine } = getComputedStyle(element)
    return [color, textDecorationLine, getComputedStyle(probe).color]
  })
  expect([colour, decoration]).toEqual([linkText, 'underline'])
})

test('a server with a wrong setting does not start, and says in one sentence why', async () => {
  const { path: DATA_DIR } = await dataDirectory()
  const sentence =
    'SITE_ACCENT is "#ffee99", whose contrast with the page is 1.0 to 1 but should be at least 4.5 to 1: choose a darker colour, such as "#7a6600".'
  expect(await runCommand([], { DATA_DIR, SITE_ACCENT: 'ffee99' })).toEqual({
    code: 1,
    stdout: '',
    stderr: `${sentence}\n`,
  })
})
