import type { Page, Route } from 'playwright-core'
import { expect } from 'vitest'

import type { Answer, Place } from '../src/client/place.ts'
import { answerStates, aToken, placeRead, places, placesStand } from '../testing/answer-page.ts'
import { extent } from '../testing/extent.ts'
import { serverOfThisFile } from '../testing/file-server.ts'
import { overflow } from '../testing/overflow.ts'
import { smallTargets } from '../testing/targets.ts'
import { accessibilityProblems, test, type Visitor } from '../testing/visitor.ts'

const server = serverOfThisFile()
const failedRequest = /Failed to load resource/

interface Sent {
  token: string
  answer: Answer
  act: string
}

/** A backend with one open place, which what is sent answers. */
function aBackend() {
  const sent: Sent[] = []
  let place: Place = places.open
  return {
    sent,
    stands: () => place,
    now: (next: Place) => (place = next),
    async before(page: Page) {
      await placesStand(page, () => place)
      await page.route('**/rpc/answer_place', (route) => this.answer(route))
    },
    answer(route: Route) {
      const given = route.request().postDataJSON() as Sent
      sent.push(given)
      if (place.state !== 'invalid') place = { ...place, answer: given.answer }
      return route.fulfill({ json: place })
    },
  }
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const told = async (page: Page) => (await page.locator('#place > *').allInnerTexts()).join(' | ')
const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent)

function open(visitor: Visitor, prepare: (page: Page) => Promise<unknown>, options = {}) {
  return visitor.open(`${server.origin}/answer/#${aToken()}`, options, prepare)
}

test('a guest is told how their place stands, and of the same day wherever it is read', async ({
  visitor,
}) => {
  const tokens = new Map(Object.values(places).map((place) => [aToken(), place]))
  // Eleven hours behind the day.
  const options = { timezoneId: 'Pacific/Pago_Pago' }
  const page = await visitor.open(`${server.origin}/answer/`, options, (opened) =>
    placesStand(opened, (token) => tokens.get(token) ?? places.invalid),
  )
  expect(await told(page)).toBe('This link is not valid any more.')
  const sentences = [
    'Hello Ada, your place is kept until 3 December 2026. | I am coming | I cannot come',
    'You are coming. See you there. | Change my answer',
    'You are not coming. Thank you for telling us. | Change my answer',
    'The time to answer is over. | Please write to team@example.org.',
    'The time to answer is over. | Please answer the letter by mail.',
    'You are coming. See you there. | The time to answer is over. | Please write to team@example.org.',
    'This link is not valid any more.',
  ]
  expect(tokens.size).toBe(sentences.length)
  for (const token of tokens.keys()) {
    await page.evaluate((hash) => location.assign(`#${hash}`), token)
    await expect.poll(() => told(page)).toBe(sentences.shift())
  }
  expect(await page.title()).toBe('Your place at Unplugged.')
})

test('a guest answers by keys alone, and is taken to what came of it', async ({ visitor }) => {
  const backend = aBackend()
  const page = await open(visitor, (opened) => backend.before(opened))
  await placeRead(page)
  await page.keyboard.press('Tab')
  expect(await focused(page)).toBe('I am coming')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await expect.poll(() => focused(page)).toBe('You are not coming. Thank you for telling us.')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Space')
  expect(await focused(page)).toBe('I am coming')
  await page.keyboard.press('Space')
  await expect.poll(() => focused(page)).toBe('You are coming. See you there.')
  expect(backend.sent.map(({ answer }) => answer)).toEqual(['not coming', 'coming'])
  expect(new Set(backend.sent.map(({ act }) => act)).size).toBe(2)
})

test('however often a button is pressed, one answer is sent', async ({ visitor }) => {
  const backend = aBackend()
  const held: Route[] = []
  const page = await open(visitor, async (opened) => {
    await backend.before(opened)
    await opened.route('**/rpc/answer_place', (route) => void held.push(route))
  })
  await button(page, 'I am coming').evaluate((pressed: HTMLButtonElement) => {
    for (let press = 0; press < 3; press += 1) pressed.click()
  })
  await expect.poll(() => held.length).toBe(1)
  expect(await button(page, 'Sending...').isDisabled()).toBe(true)
  expect(await button(page, 'I cannot come').isDisabled()).toBe(true)
  // What is under way is not read over.
  await page.evaluate(() => dispatchEvent(new Event('focus')))
  for (const route of held) await backend.answer(route)
  await page.getByText('You are coming.').waitFor()
  expect(backend.sent).toHaveLength(1)
})

test('who opens a link and runs its script, and follows what else there is, answers nothing', async ({
  visitor,
}) => {
  // Not every way to ask is one of the page's.
  visitor.expects(failedRequest)
  const backend = aBackend()
  const asked: string[] = []
  const page = await open(visitor, async (opened) => {
    await backend.before(opened)
    opened.on('request', (request) => asked.push(`${request.method()} ${new URL(request.url()).pathname}`))
  })
  await page.waitForLoadState('networkidle')
  await page
    .evaluate(async () => {
      for (const event of ['focus', 'blur', 'online', 'pageshow', 'scroll', 'mouseover', 'hashchange'])
        dispatchEvent(new Event(event))
      for (const method of ['GET', 'HEAD', 'OPTIONS'])
        await fetch(location.href, { method, headers: { purpose: 'prefetch' } })
    })
    .catch(() => {})
  expect(await page.locator('form, a[href]:not([href^="mailto:"])').count()).toBe(0)
  await page.reload({ waitUntil: 'networkidle' })
  expect(backend.stands()).toEqual(places.open)
  expect(new Set(asked)).toContain('POST /rest/v1/rpc/place_by_token')
  expect(asked.filter((each) => each.includes('answer_place'))).toEqual([])
})

test('an answer whose connection is lost is sent again as the same, and a reload does no harm', async ({
  visitor,
}) => {
  visitor.expects(failedRequest)
  const backend = aBackend()
  const lost: Sent[] = []
  const page = await open(visitor, async (opened) => {
    await backend.before(opened)
    await opened.route('**/rpc/answer_place', async (route) => {
      lost.push(route.request().postDataJSON() as Sent)
      await route.abort('internetdisconnected')
    })
  })
  await page.clock.install()
  await button(page, 'I am coming').click()
  await expect
    .poll(async () => {
      await page.clock.runFor(1_000)
      return focused(page)
    })
    .toBe('Your answer may not have arrived. Please check your connection.')
  expect(lost).toHaveLength(3)
  // It was kept, and what said so is lost.
  await page.unroute('**/rpc/answer_place')
  await page.route('**/rpc/answer_place', async (route) => {
    backend.sent.push(route.request().postDataJSON() as Sent)
    if (backend.sent.length === 1) return route.abort('connectionreset')
    backend.sent.pop()
    return backend.answer(route)
  })
  await button(page, 'Try again').click()
  await expect
    .poll(async () => {
      await page.clock.runFor(1_000)
      return focused(page)
    })
    .toBe('You are coming. See you there.')
  expect(new Set([...lost, ...backend.sent].map(({ act }) => act)).size).toBe(1)
  expect(backend.sent).toHaveLength(2)
  await page.reload()
  await page.getByText('You are coming.').waitFor()
  expect(await button(page, 'Try again').count()).toBe(0)
  expect(backend.sent).toHaveLength(2)
})

test('a place that cannot be read says so, and is read when asked again or once there is a connection', async ({
  visitor,
}) => {
  visitor.expects(failedRequest)
  const backend = aBackend()
  const page = await open(visitor, async (opened) => {
    await backend.before(opened)
    await opened.route('**/rpc/place_by_token', (route) =>
      route.fulfill({ status: 500, body: '<h1>No</h1>' }),
    )
  })
  const failure = 'Your place could not be looked up. Please check your connection.'
  await page.getByText(failure).waitFor()
  await page.route('**/rpc/place_by_token', (route) => route.fulfill({ json: {} }))
  await button(page, 'Try again').click()
  await expect.poll(() => focused(page)).toBe(failure)
  await page.unroute('**/rpc/place_by_token')
  await placesStand(page, backend.stands)
  await page.evaluate(() => dispatchEvent(new Event('online')))
  await button(page, 'I am coming').waitFor()
  expect(await page.getByText(failure).count()).toBe(0)
})

test('what another window answered is there when this one is looked at, and after it was kept', async ({
  visitor,
}) => {
  const backend = aBackend()
  const page = await open(visitor, (opened) => backend.before(opened))
  await button(page, 'I cannot come').focus()
  backend.now(places.coming)
  await page.evaluate(() => dispatchEvent(new Event('focus')))
  // What had the focus is gone.
  await expect.poll(() => focused(page)).toBe('You are coming. See you there.')
  await button(page, 'Change my answer').click()
  const again = page.waitForResponse('**/rpc/place_by_token')
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
  await again
  expect(await focused(page)).toBe('I am coming')
  backend.now(places.over)
  await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })))
  await page.getByText('The time to answer is over.').waitFor()
  expect(await page.getByRole('button').count()).toBe(0)
})

test('without a script a guest is told to answer by mail, and of nothing that is not there', async ({
  visitor,
}) => {
  const page = await open(visitor, async () => {}, { javaScriptEnabled: false })
  expect((await page.locator('body').innerText()).trim().split(/\n+/)).toEqual([
    'Your place at Unplugged.',
    'Please answer the letter by mail.',
  ])
})

const looked = extent<(keyof typeof answerStates)[]>(
  ['answered', 'reading', 'sending', 'failed'],
  Object.keys(answerStates) as (keyof typeof answerStates)[],
)

test.for(looked)(
  'axe finds nothing, and nothing sticks out or is missed by a finger: %s',
  async (state, { visitor }) => {
    visitor.expects(failedRequest)
    const { place, reach } = answerStates[state]
    const page = await open(visitor, (opened) => placesStand(opened, () => place))
    await reach(page)
    // 320 is 1280 at four times the size.
    await page.setViewportSize({ width: 320, height: 256 })
    expect(await overflow(page)).toEqual({ scroll: 0, wide: [] })
    expect(await smallTargets(page)).toEqual([])
    for (const [rules, media] of [
      ['all', { colorScheme: 'light' }],
      ['colours', { colorScheme: 'dark' }],
      ['colours', { colorScheme: 'dark', forcedColors: 'active' }],
    ] as const) {
      await page.emulateMedia(media)
      expect({ media, problems: await accessibilityProblems(page, rules) }).toEqual({ media, problems: [] })
    }
  },
)
