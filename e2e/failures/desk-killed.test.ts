import { expect } from 'vitest'

import { deskForTestFile, getDesk, people } from '../../testing/desk-page.ts'
import { extent, seed } from '../../testing/extent.ts'
import { randomFrom } from '../../testing/random.ts'
import { test } from '../../testing/visitor.ts'

/** The number of kills during decisions. More in a longer run. */
const rounds = Number(process.env['KILL_ROUNDS'] ?? extent(2, 5))

const desk = deskForTestFile()

test(`of ${rounds} servers killed during decisions, every confirmed decision is saved`, async ({
  visitor,
}) => {
  visitor.allowConsoleError(/Failed to load resource/)
  const random = randomFrom(seed)
  const stored = await desk.store(people(8))
  const page = await desk.open(visitor)
  const { link, status } = getDesk(page)
  await link('Person 1').waitFor()
  await page.waitForFunction(() => window.earlyList === null)
  await status.evaluate((region) => {
    const heard: string[] = []
    Object.assign(window, { heard })
    new MutationObserver(() => heard.push(region.textContent ?? '')).observe(region, { childList: true })
  })
  const heard = () => page.evaluate(() => Reflect.get(window, 'heard') as string[])
  let isOver = false
  const decide = async () => {
    while (!isOver) {
      // Like an organiser who waits for confirmation and decides on another application meanwhile.
      await page.waitForFunction(
        () => document.querySelectorAll('.decisions-pill[aria-busy=true]').length < 3,
      )
      await page.keyboard.press(random() < 0.5 ? 'j' : 'k')
      await page.keyboard.press('sawdr'[Math.floor(random() * 5)] ?? 's')
    }
  }
  page.setDefaultTimeout(60_000)
  const deciding = decide()
  for (let round = 0; round < rounds; round += 1) {
    const enough = (await heard()).length + 3 + Math.floor(random() * 10)
    await expect.poll(async () => (await heard()).length, { timeout: 60_000 }).toBeGreaterThan(enough)
    await desk.killAndRestart()
  }
  isOver = true
  await deciding
  await expect
    .poll(() => page.locator('.decisions-pill[aria-busy=true]').count(), { timeout: 60_000 })
    .toBe(0)
  // A decision that is already in effect was reported as not saved before, since its response took too long.
  const announcements = (await heard()).filter((text) => !/not saved| already$/.test(text))
  expect(announcements.length).toBeGreaterThan(3 * rounds)
  for (const { id, first_name, last_name } of stored) {
    const name = `${first_name} ${last_name}: `
    const confirmed = announcements
      .filter((text) => text.startsWith(name))
      .map((text) => text.slice(name.length).toLowerCase())
    const history = await desk.sql<{ status: string }[]>`
      select detail ->> 'status' as status from private.history where application_id = ${id} order by id`
    const written = history.map((each) => each.status)
    let position = 0
    const lost = confirmed.filter((each) => {
      const found = written.indexOf(each, position)
      if (found !== -1) position = found + 1
      return found === -1
    })
    expect({ name, lost, written }).toEqual({ name, lost: [], written })
    expect(await desk.statusOf(id)).toBe(written.at(-1) ?? 'new')
  }
})
