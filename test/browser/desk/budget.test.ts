import type { Page, Request } from 'playwright-core'
import { expect } from 'vitest'

import { deferred } from '../../support/deferred.ts'
import { people } from '../../support/applicants.ts'
import { recordCalls, deskForTestFile, getDesk } from '../../support/desk-page.ts'
import { settle } from '../../support/refresh.ts'
import { test } from '../../support/browser-test.ts'

const desk = deskForTestFile()
/** The largest number of bytes of compressed script for the first list. */
const maxScriptBytes = 90_000

test('the first list needs little script, and is requested once, before the script loads', async ({
  visitor,
}) => {
  await desk.store(people(1))
  let calledFunctions: string[] = []
  let bytes = 0
  const { promise: released, resolve: release } = deferred()
  const opening = desk.open(visitor, '', {
    isNew: true,
    prepare: async (opened) => {
      calledFunctions = recordCalls(opened)
      // The list does not need the scripts that are requested after the call for the counts, `desk_refresh`.
      const needed = new Set<Request>()
      opened.on('request', (request) => {
        if (request.resourceType() === 'script' && !calledFunctions.includes('desk_refresh'))
          needed.add(request)
      })
      opened.on('response', (response) => {
        if (needed.has(response.request())) bytes += Number(response.headers()['content-length'])
      })
      await opened.route('**/assets/*.js', async (route) => {
        await released
        await route.continue()
      })
    },
  })
  await expect.poll(() => calledFunctions).toEqual(['desk_list', 'desk_me'])
  release()
  const page = await opening
  await getDesk(page).link('Person 1').waitFor()
  await expect.poll(() => calledFunctions).toContain('desk_refresh')
  await settle(page)
  expect(calledFunctions.filter((name) => ['desk_me', 'desk_list'].includes(name))).toEqual([
    'desk_list',
    'desk_me',
  ])
  console.log(`the first list: ${bytes} bytes of script`)
  expect(bytes).toBeGreaterThan(0)
  expect(bytes).toBeLessThanOrEqual(maxScriptBytes)
})

test('an application opened by its link takes one call, and the list takes three with its counts and letters', async ({
  visitor,
}) => {
  const [, second] = await desk.store(people(3))
  const calls: string[] = []
  const prepare = async (opened: Page) => {
    opened.on('request', (request) => {
      const name = request.url().split('/rpc/')[1]
      // Prefetches of its neighbours do not count.
      if (name === 'desk_application' && !request.postData()?.includes(second?.id ?? '')) return
      // `desk_me` does not count: it identifies the organiser.
      if (name !== undefined && name !== 'desk_me') calls.push(name)
    })
  }
  // A window without room for the list beside an application.
  const viewport = { width: 1100, height: 720 }
  const page = await desk.open(visitor, `/applications/${second?.id}`, { prepare, viewport })
  const { position, heading, keyboard } = { ...getDesk(page), keyboard: page.keyboard }
  await expect.poll(() => position.textContent()).toBe('2 of 3, 3 to read')
  await settle(page)
  expect(calls).toEqual(['desk_application'])
  // A decision keeps the position in the list, and counts.
  await keyboard.press('a')
  await expect.poll(() => getDesk(page).status.textContent()).toBe('Person 2: Accepted')
  await keyboard.press('j')
  await heading('Person 3').waitFor()
  await expect.poll(() => position.textContent()).toBe('3 of 3, 2 to read')
  await keyboard.press('k')
  await heading('Person 2').waitFor()
  await expect.poll(() => position.textContent()).toBe('2 of 3, 2 to read')

  await page.close()
  calls.length = 0
  const listed = await desk.open(visitor, '', { prepare, viewport })
  await expect.poll(getDesk(listed).names).toHaveLength(2)
  // After the list, the desk requests the counts, the number of letters for the navigation, and what looks like junk, in any order.
  const afterList = ['desk_junk', 'desk_letters', 'desk_refresh']
  await expect.poll(() => calls.slice(1).toSorted()).toEqual(afterList)
  await settle(listed)
  expect([calls[0], ...calls.slice(1).toSorted()]).toEqual(['desk_list', ...afterList])
})
