import type { Page } from 'playwright-core'
import { expect } from 'vitest'

import { deferred } from '../../support/deferred.ts'
import { people } from '../../support/applicants.ts'
import { recordCalls, deskForTestFile, focused, getDesk } from '../../support/desk-page.ts'
import { holdRequests } from '../../support/held-requests.ts'
import { codeOf } from '../../support/sign-in-server.ts'
import { test, type Visitor } from '../../support/browser-test.ts'

const desk = deskForTestFile()

/** Opens the desk, signed out or as Ada. Its script is held until `release` is called. */
async function openWithoutScript(visitor: Visitor, isSignedIn = false) {
  let release = () => {}
  let setPage: (page: Page) => void
  const prepared = new Promise<Page>((resolve) => (setPage = resolve))
  const prepare = async (page: Page) => {
    release = await holdRequests(page, '**/assets/*.js')
    setPage(page)
  }
  const opening = isSignedIn
    ? desk.open(visitor, '', { prepare })
    : visitor.open(`${desk.origin}/desk`, {}, prepare)
  const page = await prepared
  return {
    page,
    email: page.getByLabel('Email'),
    release: async () => {
      release()
      await opening
    },
  }
}

/** Waits until React has rendered the list. */
async function waitForTakeover(page: Page) {
  await page.waitForFunction(() => window.earlyInput === null)
}

test('a call that was sent before the script loaded and got no response is retried', async ({ visitor }) => {
  visitor.allowConsoleError(/Failed to load resource/)
  await desk.store(people(1))
  let listCalls = 0
  const page = await desk.open(visitor, '', {
    prepare: (opened) =>
      opened.route('**/rpc/desk_list', (route) => {
        listCalls += 1
        return listCalls === 1 ? route.abort() : route.continue()
      }),
  })
  await getDesk(page).link('Person 1').waitFor()
  expect(listCalls).toBe(2)
})

test('an expired token is refreshed before any other request', async ({ visitor }) => {
  await desk.store(people(1))
  let calledFunctions: string[] = []
  // A separate session, since a refresh token works once.
  const client = await desk.signedIn('grace@example.org')
  const page = await desk.open(visitor, '', {
    as: { email: 'grace@example.org', client },
    prepare: async (opened) => {
      calledFunctions = recordCalls(opened)
      await opened.addInitScript(() => {
        const session = JSON.parse(localStorage.getItem('unplugged-desk') ?? '') as { expires_at: number }
        localStorage.setItem('unplugged-desk', JSON.stringify({ ...session, expires_at: 1 }))
      })
      await opened.route('**/auth/v1/token**', async (route) => {
        expect(calledFunctions).toEqual([])
        await route.continue()
      })
    },
  })
  await getDesk(page).link('Person 1').waitFor()
  const storedSession = await page.evaluate(() => localStorage.getItem('unplugged-desk'))
  expect((JSON.parse(storedSession ?? '') as { expires_at: number }).expires_at).toBeGreaterThan(
    Date.now() / 1000,
  )
})

test('an organiser with a second factor is asked for it before the list is requested', async ({
  visitor,
}) => {
  await desk.store(people(1))
  const first = await desk.signedIn('rosalind@example.org')
  const { data: factor } = await first.auth.mfa.enroll({ factorType: 'totp' })
  await first.auth.mfa.challengeAndVerify({
    factorId: factor?.id ?? '',
    code: codeOf(factor?.totp?.secret ?? ''),
  })
  // This session of the same account has no second factor.
  const client = await desk.signedIn('rosalind@example.org')
  let calledFunctions: string[] = []
  const page = await desk.open(visitor, '', {
    as: { email: 'rosalind@example.org', client },
    skipsWait: true,
    prepare: async (opened) => {
      calledFunctions = recordCalls(opened)
    },
  })
  await page.getByRole('heading', { name: 'Second factor' }).waitFor()
  expect(calledFunctions).toEqual([])
  expect(await page.getByText('Person 1').count()).toBe(0)
})

test('a sign-out in another window signs this window out, too, even if its script for signing in has not loaded', async ({
  visitor,
}) => {
  await desk.store(people(1))
  const client = await desk.signedIn('joan@example.org')
  visitor.allowConsoleError(/Failed to load resource/)
  const page = await desk.open(visitor, '', {
    as: { email: 'joan@example.org', client },
    prepare: (opened) => opened.route('**/assets/auth-*', (route) => route.abort()),
  })
  await getDesk(page).link('Person 1').waitFor()
  const other = await page.context().newPage()
  await other.goto(`${desk.origin}/desk`)
  await getDesk(other).button('Sign out').click()
  await page.getByText('Your session has ended. Please sign in again.').waitFor()
})

test('the sign-in page works before its script has loaded: input and presses are kept', async ({
  visitor,
}) => {
  visitor.allowConsoleError(/Failed to load resource/)
  const { page, email, release } = await openWithoutScript(visitor)
  await email.waitFor()
  await email.pressSequentially('nobody@example.orgg')
  await page.keyboard.press('Backspace')
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('Enter')
  await page.locator('button[aria-busy=true]', { hasText: 'Send code' }).waitFor()
  await release()
  // This server sends no emails: the page says for which email address the operator must create a link.
  await page.getByText('nobody@example.org').waitFor()
  expect(await email.inputValue()).toBe('nobody@example.org')
})

test('the sign-in page creates no `Intl.DateTimeFormat` before its script has loaded', async ({
  visitor,
}) => {
  let formats = 0
  const page = await visitor.open(`${desk.origin}/desk`, {}, async (opened) => {
    await opened.route('**/assets/*.js', (route) => route.fulfill({ contentType: 'text/javascript' }))
    await opened.exposeFunction('formatIsMade', () => (formats += 1))
    await opened.addInitScript(`
      Intl.DateTimeFormat = class extends Intl.DateTimeFormat {
        constructor(...args) {
          super(...args)
          formatIsMade()
        }
      }`)
  })
  await page.getByLabel('Email').waitFor()
  expect(formats).toBe(0)
})

test('text typed while the script loads stays in the same field, which keeps the focus', async ({
  visitor,
}) => {
  const { page, email, release } = await openWithoutScript(visitor)
  await email.pressSequentially('ada@example.org')
  const field = await email.elementHandle()
  await release()
  await page.waitForFunction(() => window.heldPress === null)
  await expect.poll(() => field?.evaluate((element) => element === document.activeElement)).toBe(true)
  expect(await email.inputValue()).toBe('ada@example.org')
})

test('a press of "Use a password" before the script has loaded takes effect afterwards', async ({
  visitor,
}) => {
  const { page, release } = await openWithoutScript(visitor)
  await getDesk(page).button('Use a password').click()
  await release()
  await page.getByLabel('Password').waitFor()
})

test('the rows look the same before and after the script has loaded', async ({ visitor }) => {
  await desk.store([
    { first_name: 'Grace', last_name: '\u202eHopper', company: 'x'.repeat(300), email: 'grace@example.org' },
    { first_name: '<b>Ada', email: 'GRACE@example.org ', team_size: '10+' },
    { first_name: 'Old', created_at: new Date('2024-05-06T07:08:09Z'), reason: 'One line\nand another' },
  ])
  const { page, release } = await openWithoutScript(visitor, true)
  const table = page.locator('table.rows-table')
  await table.waitFor()
  const shown = () =>
    table.evaluate((element) => {
      for (const label of element.querySelectorAll('label')) label.replaceChildren()
      return element.outerHTML.replaceAll(/ inert=""|<!-- -->/g, '')
    })
  const early = await shown()
  await release()
  await waitForTakeover(page)
  expect(early).toContain('Grace')
  expect(await shown()).toBe(early)
})

test('rows that are ticked before the script has loaded are selected afterwards', async ({ visitor }) => {
  await desk.store(people(3))
  const { page, release } = await openWithoutScript(visitor, true)
  const { select, bar } = getDesk(page)
  for (const name of ['Person 1', 'Person 2', 'Person 3']) await select(name).check()
  await select('Person 2').uncheck()
  await release()
  await waitForTakeover(page)
  await expect.poll(() => focused(page)).toBe('INPUT: Select Person 2')
  await bar.getByText('2 selected').waitFor()
  expect(
    await Promise.all(['Person 1', 'Person 2', 'Person 3'].map((name) => select(name).isChecked())),
  ).toEqual([true, false, true])
})

test('a press that begins before the script has loaded and ends afterwards is not lost', async ({
  visitor,
}) => {
  await desk.store(people(2))
  const { page, release } = await openWithoutScript(visitor, true)
  const { link, heading } = getDesk(page)
  await link('Person 2').hover()
  await page.mouse.down()
  // React sends this request as soon as it has rendered the list.
  const rendered = page.waitForResponse('**/rpc/desk_refresh')
  const released = release()
  await rendered
  await page.mouse.up()
  await released
  await heading('Person 2').waitFor()
})

test('keys that move the focus take effect once the script has loaded, and keys that decide or select are ignored', async ({
  visitor,
}) => {
  const stored = await desk.store(people(3))
  const { page, release } = await openWithoutScript(visitor, true)
  const { link, status } = getDesk(page)
  await link('Person 1').waitFor()
  await page.keyboard.type('jaxdj')
  await release()
  await expect.poll(() => focused(page)).toBe('A: Person 2')
  // Decisions are sent in order, so an earlier one would be saved before this one.
  await page.keyboard.press('w')
  await expect.poll(() => status.textContent()).toBe('Person 2: Waitlisted')
  expect(await Promise.all(stored.map(({ id }) => desk.statusOf(id)))).toEqual(['new', 'waitlisted', 'new'])
})

test('a search that is typed before the script has loaded is carried out', async ({ visitor }) => {
  await desk.store([...people(2), { first_name: 'Grace', last_name: 'Hopper' }])
  const { page, release } = await openWithoutScript(visitor, true)
  await getDesk(page).link('Person 1').waitFor()
  await page.keyboard.type('/hopper')
  await release()
  await expect.poll(getDesk(page).names).toEqual(['Grace Hopper'])
  await expect.poll(() => focused(page)).toBe('INPUT: Search')
  expect(await getDesk(page).search.inputValue()).toBe('hopper')
})

test('the focus and an opened application stay when the script loads', async ({ visitor }) => {
  // The previous application is prefetched, and may be deleted before its request arrives.
  visitor.allowConsoleError(/status of 404/)
  await desk.store(people(2))
  const focusing = await openWithoutScript(visitor, true)
  await getDesk(focusing.page).link('Person 2').focus()
  await focusing.release()
  await waitForTakeover(focusing.page)
  await expect.poll(() => focused(focusing.page)).toBe('A: Person 2')

  const opening = await openWithoutScript(visitor, true)
  await getDesk(opening.page).link('Person 2').click()
  await opening.release()
  await getDesk(opening.page).heading('Person 2').waitFor()
  // The list was read before the script loaded. This makes it stale.
  await desk.sql`delete from public.retreat_applications where last_name = '1'`
  await getDesk(opening.page).link('Back').click()
  await expect.poll(getDesk(opening.page).names).toEqual(['Person 2'])
})

test('if the session ends while the first list is shown, the sign-in appears with a focused field', async ({
  visitor,
}) => {
  visitor.allowConsoleError(/Failed to load resource/)
  await desk.store(people(1))
  const client = await desk.signedIn('mary@example.org')
  const { promise: released, resolve: release } = deferred()
  const page = await desk.open(visitor, '', {
    as: { email: 'mary@example.org', client },
    skipsWait: true,
    prepare: (opened) =>
      opened.route('**/rpc/desk_me', async (route) => {
        await released
        await route.continue()
      }),
  })
  await getDesk(page).link('Person 1').waitFor()
  await client.auth.signOut({ scope: 'global' })
  release()
  await getDesk(page).heading('Sign in').waitFor()
  await expect.poll(() => focused(page)).toBe('INPUT: Email')
  await expect.poll(() => getDesk(page).link('Person 1').count()).toBe(0)
})

test('a script that cannot be loaded is reported beside the rows', async ({ visitor }) => {
  visitor.allowConsoleError(/Failed to load resource/)
  await desk.store(people(1))
  const page = await desk.open(visitor, '', {
    prepare: (opened) => opened.route('**/assets/*.js', (route) => route.abort()),
  })
  await getDesk(page).link('Person 1').waitFor()
  await page.getByText('The desk could not be loaded. Please check your connection and reload.').waitFor()
})

test('a reader sees no early list, which offers what readers may not do', async ({ visitor }) => {
  visitor.allowConsoleError(/Failed to load resource/)
  await desk.store(people(1))
  await desk.sql`update private.organisers set is_reader = true`
  const page = await desk.open(visitor, '', {
    prepare: (opened) => opened.route('**/assets/*.js', (route) => route.abort()),
  })
  await page.getByText('The desk could not be loaded. Please check your connection and reload.').waitFor()
  expect(await getDesk(page).link('Guests').count()).toBe(0)
  expect(await getDesk(page).link('Person 1').count()).toBe(0)
})
