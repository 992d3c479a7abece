import type { Page } from 'playwright-core'
import { expect } from 'vitest'

import { people } from '../../support/applicants.ts'
import { deskForTestFile, getDesk } from '../../support/desk-page.ts'
import { extent } from '../../support/quick-or-long.ts'
import { test } from '../../support/browser-test.ts'

const desk = deskForTestFile()

const count = extent({ quick: 30, long: 200 })
const shortlisted = extent({ quick: 10, long: 38 })

/** Records the milliseconds from each key or tap to the frame with the next heading. */
function measureSteps() {
  const steps: number[] = []
  let pressedAt: number | undefined
  let heading: string | undefined
  const look = () => {
    const shown = document.querySelector('h1')?.textContent
    if (shown !== heading && pressedAt !== undefined) {
      steps.push(performance.now() - pressedAt)
      pressedAt = undefined
    }
    heading = shown
    requestAnimationFrame(look)
  }
  for (const type of ['keydown', 'click'])
    addEventListener(type, ({ timeStamp }) => (pressedAt = timeStamp), { capture: true })
  requestAnimationFrame(look)
  return steps
}

/** Acts on applications until the end of the list, one act each. Returns the median time to the next one, in milliseconds. */
async function stepThrough(page: Page, applications: number, act: (number: number) => Promise<void>) {
  const steps = await page.evaluateHandle(measureSteps)
  for (let number = 1; number <= applications; number += 1) {
    await getDesk(page).heading(`Person ${number}`).waitFor()
    await act(number)
  }
  await page.getByText(/^(This was the last one of this list|All [\d,]+ are read)\./).waitFor()
  const sorted = (await steps.jsonValue()).toSorted((one, other) => one - other)
  return Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0)
}

for (const [device, options] of [
  ['keys', { viewport: { width: 1366, height: 650 } }],
  ['taps', { viewport: { width: 390, height: 844 }, hasTouch: true }],
] as const)
  test(`${count} applications are marked, and then decided, by one of the ${device} each`, async ({
    visitor,
  }) => {
    const stored = await desk.store(people(count))
    await desk.bob.client.rpc('desk_mark', {
      act: crypto.randomUUID(),
      application: stored[count - 1]?.id,
      mark: 'yes',
      why: '',
    })
    const page = await desk.open(visitor, '', options)
    const { link, button } = getDesk(page)
    // Two buttons in turns: the desk takes two quick taps on one place as a double click.
    const act = (...choices: [key: string, name: string][]) => {
      return (number: number) => {
        const [key = '', name = ''] = choices[number % choices.length] ?? []
        return device === 'keys' ? page.keyboard.press(key) : button(name).tap()
      }
    }
    const open = () => (device === 'keys' ? link('Person 1').press('Enter') : link('Person 1').tap())
    await link('Person 1').waitFor()
    await open()
    await page.getByLabel('Go on').check()
    const toMark = await stepThrough(page, count, act(['1', 'Yes'], ['3', 'No']))
    await page.goBack()
    await open()
    const toDecide = await stepThrough(page, count, act(['s', 'Shortlist'], ['w', 'Waitlist']))
    console.log(`from one of the ${device} to the next person: ${toMark} ms marking, ${toDecide} ms deciding`)
    await expect
      .poll(
        () =>
          desk.sql`select count(*)::integer from private.statuses where status in ('shortlisted', 'waitlisted')`,
      )
      .toEqual([{ count }])
    expect(
      await desk.sql`select count(*)::integer from private.marks where author = 'ada@example.org'`,
    ).toEqual([{ count }])
  })

test(`${shortlisted} shortlisted applications are decided by one key each`, async ({ visitor }) => {
  const stored = await desk.store(people(shortlisted))
  await desk.setStatus(stored, 'shortlisted')
  const page = await desk.open(visitor, '/?status=shortlisted')
  await getDesk(page).link('Person 1').press('Enter')
  await page.getByLabel('Go on').check()
  await stepThrough(page, shortlisted, () => page.keyboard.press('a'))
  await expect
    .poll(() => desk.sql`select count(*)::integer from private.statuses where status = 'accepted'`)
    .toEqual([{ count: shortlisted }])
})
