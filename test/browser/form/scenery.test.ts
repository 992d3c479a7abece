import type { Page } from 'playwright-core'
import { expect } from 'vitest'

import { serverForTestFile } from '../../support/server-for-test-file.ts'
import { getForm } from '../../support/form.ts'
import { formStates } from '../../support/form-states.ts'
import { test } from '../../support/browser-test.ts'
import { resize } from '../../support/resize.ts'

const server = serverForTestFile()

/** The bounds of an element in the window. */
const boundsOf = (page: Page, selector: string) =>
  page
    .locator(selector)
    .first()
    .evaluate((element) => {
      const { left, top, right, bottom, width, height } = element.getBoundingClientRect()
      return { left, top, right, bottom, width, height }
    })

const windowsWithSceneryBeside = [
  [1366, 650],
  [1280, 720],
  [1536, 730],
  [844, 390],
  [1920, 1080],
] as const

test('scenery beside the card does not scroll, and the first field is fully visible at first', async ({
  visitor,
}) => {
  const page = await visitor.open(server.origin)
  for (const [width, height] of windowsWithSceneryBeside) {
    await resize(page, { width, height })
    await page.evaluate(() => window.scrollTo(0, 0))
    const field = await boundsOf(page, '#first_name')
    expect(field.top).toBeGreaterThan(0)
    expect(field.bottom).toBeLessThan(height)
    const title = await boundsOf(page, 'h1')
    const hills = await boundsOf(page, '.scene .hills')
    expect(hills.bottom).toBeCloseTo(height, 0)
    expect(title.top).toBeGreaterThan(0)
    await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight))
    expect(await boundsOf(page, 'h1')).toEqual(title)
    expect(await boundsOf(page, '.scene .hills')).toEqual(hills)
  }
})

test('a sun beside the card overlaps neither the words nor the card', async ({ visitor }) => {
  const page = await visitor.open(server.origin)
  for (const [width, height] of windowsWithSceneryBeside) {
    await resize(page, { width, height })
    const sun = await boundsOf(page, '.scene .hills .sun')
    expect(sun.left).toBeGreaterThan(0)
    expect(sun.right).toBeLessThan((await boundsOf(page, '.card')).left)
    expect(sun.top).toBeGreaterThan((await boundsOf(page, '.tagline')).bottom)
  }
})

test('in a low landscape window without room for sun and words, the sun is hidden', async ({ visitor }) => {
  const page = await visitor.open(server.origin)
  for (const [width, height] of [
    [640, 360],
    [667, 331],
  ] as const) {
    await resize(page, { width, height })
    expect(await page.locator('.scene .hills .sun').isVisible()).toBe(false)
  }
})

test('a sun above the card is fully inside the window, and no tree overlaps the card', async ({
  visitor,
}) => {
  const page = await visitor.open(server.origin)
  for (const width of [320, 360, 390, 430, 600, 768]) {
    await resize(page, { width, height: 844 })
    const sun = await boundsOf(page, '.scene .hills .sun')
    expect(sun.left).toBeGreaterThan(8)
    expect(sun.right).toBeLessThan(width - 8)
    const pines = await boundsOf(page, '.scene .hills .pines')
    expect(pines.bottom).toBeLessThanOrEqual((await boundsOf(page, '.card')).top)
  }
})

test('no line is visible where the drawing of the nearest hill ends', async ({ visitor }) => {
  const page = await visitor.open(server.origin, {
    viewport: { width: 397, height: 700 },
    deviceScaleFactor: 1.5,
  })
  const near = await boundsOf(page, '.scene .hills .near')
  const main = await boundsOf(page, 'main')
  expect(near.bottom).toBeGreaterThan(main.top + 1)
})

test('the team sizes form one row or two rows of two', async ({ visitor }) => {
  const page = await visitor.open(server.origin)
  for (const width of [320, 394, 450, 517, 768, 900, 1024, 1366]) {
    await resize(page, { width, height: 800 })
    const tops = await page
      .locator('.team_size .choice')
      .evaluateAll((choices) => choices.map((choice) => choice.getBoundingClientRect().top))
    const rows = [...new Set(tops)].map((top) => tops.filter((other) => other === top).length)
    expect([[4], [2, 2]]).toContainEqual(rows)
  }
})

test('the sun sets after success, and scenery appears in the green box', async ({ visitor }) => {
  const page = await visitor.open(server.origin, { viewport: { width: 1366, height: 650 } })
  const [before, hills] = [await boundsOf(page, '.scene .hills .sun'), await boundsOf(page, '.scene .hills')]
  await formStates['success']?.(page)
  const after = await boundsOf(page, '.scene .hills .sun')
  expect(after.top).toBeGreaterThan(before.top + 50)
  expect(after.top).toBeLessThan(hills.bottom)
  expect((await boundsOf(page, '.success .hills')).height).toBeGreaterThan(100)
})

test('the icon stops moving while a field has the focus', async ({ visitor }) => {
  const page = await visitor.open(server.origin, { reducedMotion: 'no-preference' })
  const state = () => page.locator('.plug').evaluate((plug) => getComputedStyle(plug).animationPlayState)
  expect(await state()).toBe('running')
  await getForm(page).firstName.focus()
  expect(await state()).toBe('paused')
  await getForm(page).firstName.blur()
  expect(await state()).toBe('running')
})

test('the printed form fits on one page with answers, choices and consent, without the scenery', async ({
  visitor,
}) => {
  const page = await visitor.open(server.origin)
  await formStates['filled']?.(page)
  const paper = await page.pdf({ format: 'A4', printBackground: false })
  expect(paper.toString('latin1').match(/\/Type ?\/Page\b/g)).toHaveLength(1)
  await page.emulateMedia({ media: 'print' })
  for (const hidden of ['.scene .hills', '.plug', 'button']) {
    expect([hidden, await page.locator(hidden).isVisible()]).toEqual([hidden, false])
  }
  for (const visible of ['#first_name', '#reason', '[name=consent]', '[name=team_size]:checked']) {
    expect([visible, await page.locator(visible).isVisible()]).toEqual([visible, true])
  }
  expect(await page.locator('[name=consent]').evaluate((box) => getComputedStyle(box).printColorAdjust)).toBe(
    'exact',
  )
})
