import { expect } from 'vitest'

import { people } from '../../support/applicants.ts'
import { deskForTestFile, getDesk } from '../../support/desk-page.ts'
import { extent, seed } from '../../support/quick-or-long.ts'
import { randomFrom } from '../../support/random.ts'
import { test } from '../../support/browser-test.ts'

/** The number of kills during decisions. A long run has more. */
const rounds = Number(process.env['KILL_ROUNDS'] ?? extent({ quick: 2, long: 5 }))

const desk = deskForTestFile()

test(`every decision that the desk confirmed is saved, although ${rounds} servers are killed while decisions are made`, async ({
  visitor,
}) => {
  visitor.allowConsoleError(/Failed to load resource/)
  const random = randomFrom(seed)
  const stored = await desk.store(people(8))
  const page = await desk.open(visitor)
  const { link, status } = getDesk(page)
  await link('Person 1').waitFor()
  await page.waitForFunction(() => window.earlyInput === null)
  await status.evaluate((region) => {
    const announced: string[] = []
    Object.assign(window, { announced })
    new MutationObserver(() => announced.push(region.textContent ?? '')).observe(region, { childList: true })
  })
  const readAnnouncements = () => page.evaluate(() => Reflect.get(window, 'announced') as string[])
  let isOver = false
  const decide = async () => {
    while (!isOver) {
      // An organiser decides on other applications while up to three decisions are pending.
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
    const enough = (await readAnnouncements()).length + 3 + Math.floor(random() * 10)
    await expect
      .poll(async () => (await readAnnouncements()).length, { timeout: 60_000 })
      .toBeGreaterThan(enough)
    await desk.killAndRestart()
  }
  isOver = true
  await deciding
  await expect
    .poll(() => page.locator('.decisions-pill[aria-busy=true]').count(), { timeout: 60_000 })
    .toBe(0)
  // A decision with a slow response is first announced as not saved or not confirmed, and after the retry as "already" made.
  const announcements = (await readAnnouncements()).filter(
    (text) => !/not saved|not confirmed| already$/.test(text),
  )
  expect(announcements.length).toBeGreaterThan(3 * rounds)
  for (const { id, first_name, last_name } of stored) {
    const name = `${first_name} ${last_name}: `
    const confirmed = announcements
      .filter((text) => text.startsWith(name))
      .map((text) => text.slice(name.length).toLowerCase())
    const history = await desk.sql<{ status: string }[]>`
      select detail ->> 'status' as status from private.history where application_id = ${id} order by id`
    const saved = history.map((each) => each.status)
    let position = 0
    const lost = confirmed.filter((each) => {
      const found = saved.indexOf(each, position)
      if (found !== -1) position = found + 1
      return found === -1
    })
    expect({ name, lost, saved }).toEqual({ name, lost: [], saved })
    expect(await desk.statusOf(id)).toBe(saved.at(-1) ?? 'new')
  }
})
