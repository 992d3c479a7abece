import { expect } from 'vitest'

import { deskForTestFile } from '../../support/desk-page.ts'
import { test } from '../../support/browser-test.ts'

const desk = deskForTestFile()

test('the preview has the styles of the page in both schemes, and only its screen loads its script', async ({
  visitor,
}) => {
  visitor.allowConsoleError(/^Blocked script execution in 'about:srcdoc'/)
  const scripts: string[] = []
  const page = await desk.open(visitor, '/retreat', {
    isNew: true,
    prepare: async (opened) => {
      opened.on('request', (request) => scripts.push(request.url()))
    },
  })
  await page.getByRole('link', { name: 'Page', exact: true }).waitFor()
  // The desk loads the scripts of all other screens after a while.
  await expect.poll(() => scripts.some((url) => url.includes('/deferred-'))).toBe(true)
  expect(scripts.filter((url) => url.includes('/PageEdit-'))).toEqual([])
  await page.getByRole('link', { name: 'Page', exact: true }).click()
  const frame = page.frameLocator('iframe')
  await page.getByLabel('Title', { exact: true }).fill('Langsam')
  await frame.getByText('Langsam').waitFor()
  expect(scripts.filter((url) => url.includes('/PageEdit-'))).toHaveLength(1)

  const inkIn = async (scheme: string) => {
    await page.getByLabel('Colours').selectOption(scheme)
    return frame.locator('body').evaluate((body) => getComputedStyle(body).color)
  }
  expect(await inkIn('Light')).toBe('rgb(30, 47, 39)')
  expect(await inkIn('Dark')).toBe('rgb(236, 231, 216)')
  // The policy of the desk refuses the rest.
  const ran = await frame.locator('body').evaluate((body) => {
    const script = document.createElement('script')
    script.textContent = 'parent.hasRun = true'
    body.append(script)
    const button = body.querySelector('button')
    button?.focus()
    return [Reflect.get(parent, 'hasRun'), document.activeElement === button, document.compatMode]
  })
  expect(ran).toEqual([undefined, false, 'CSS1Compat'])
})

test('a narrow window has the preview behind a tab, at the width of the window', async ({ visitor }) => {
  const page = await desk.open(visitor, '/page', { viewport: { width: 360, height: 640 } })
  await page.getByLabel('Title', { exact: true }).waitFor()
  expect(await page.locator('iframe').isVisible()).toBe(false)
  await page.getByRole('button', { name: 'Preview' }).click()
  await page.frameLocator('iframe').getByText('First name').waitFor()
  expect(await page.getByLabel('Title', { exact: true }).isVisible()).toBe(false)
  const box = await page.locator('iframe').boundingBox()
  expect(box?.width).toBeLessThanOrEqual(360)
  // Keys scroll it.
  await page.getByLabel('Window').focus()
  await page.keyboard.press('Tab')
  await page.keyboard.press('PageDown')
  const scrolled = () =>
    page
      .frameLocator('iframe')
      .locator('html')
      .evaluate(() => scrollY)
  await expect.poll(scrolled).toBe(400)
})
