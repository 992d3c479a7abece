import type { Page } from 'playwright-core'
import { beforeEach, expect } from 'vitest'

import { deskOfThisFile, getDesk } from '../testing/desk-page.ts'
import { overflow } from '../testing/overflow.ts'
import { accessibilityProblems, test } from '../testing/visitor.ts'

const desk = deskOfThisFile()

beforeEach(async () => {
  await desk.sql`delete from private.templates where occasion not in ('accepted', 'waitlisted', 'declined')`
  await postman(true)
})

/** Somebody carries letters, as far as the database knows, or nobody does. */
async function postman(isThere: boolean) {
  const seen = isThere ? '1 hour' : '-1 hour'
  await desk.sql`update private.postman set seen_at = now() + ${seen}::interval, stopped = false`
}

const failedRequest = /Failed to load resource/
const zoe = { first_name: 'Zoë', last_name: 'Zola', email: 'zoe@example.org' }
const alan = { first_name: 'Alan', last_name: 'Turing', email: 'alan@example.org' }

const statesInDatabase = async () => {
  const rows = await desk.sql<{ state: string }[]>`
    select state from private.letters where state <> 'withdrawn' order by state`
  return rows.map(({ state }) => state)
}
const drafts = (page: Page) => page.locator('.draft')

test('two are decided on, their drafts read, one is changed, both are sent, and stopped before they left', async ({
  visitor,
}) => {
  const stored = await desk.store([zoe, alan])
  const page = await desk.open(visitor, '/?status=all')
  const { link, button, heading, status, dialog, select } = getDesk(page)
  await select('Zoë Zola').check()
  await select('Alan Turing').check()
  await button('Accept').click()
  await status.getByText('2 applications: Accepted').waitFor()

  await link('Letters').click()
  await heading('Letters').waitFor()
  await page.getByText('2 accepted are not written to').waitFor()
  await page.getByRole('link', { name: 'Review 2 drafts' }).click()
  await heading('Drafts: Accepted').waitFor()
  await expect.poll(() => drafts(page).count()).toBe(2)
  await page.getByText('To zoe@example.org').waitFor()

  const of = (name: string) => drafts(page).filter({ has: page.getByRole('heading', { name }) })
  await button('Edit: Zoë Zola').click()
  const text = page.getByLabel('Text', { exact: true })
  expect(await text.inputValue()).toMatch(/^Hello Zoë,\n/)
  await text.fill('Dear Zoë,\n\nbring your bees.')
  await button('Save').click()
  await status.getByText('Zoë Zola: changed').waitFor()
  await of('Zoë Zola').getByText('Dear Zoë, bring your bees.').waitFor()
  expect(await of('Zoë Zola').textContent()).toContain('Changed for them alone.')

  await button('Send 2 letters').click()
  await dialog.getByRole('heading', { name: 'Send 2 letters?' }).waitFor()
  await dialog.getByText('Nothing leaves for 60 seconds').waitFor()
  await dialog.getByRole('button', { name: 'Send 2 letters' }).click()
  const bar = page.getByRole('region', { name: 'On their way' })
  await bar.waitFor()
  expect(await bar.locator('p').textContent()).toMatch(/^2 letters leave in (1:00|0:\d\d)\.$/)
  await page.getByText('No drafts here.').waitFor()
  expect(await statesInDatabase()).toEqual(['waiting', 'waiting'])

  // It is there wherever letters are.
  await link('Back').click()
  await page.getByRole('link', { name: '2 are leaving' }).waitFor()
  await bar.waitFor()
  await page.getByRole('link', { name: '2 are leaving' }).click()
  await button('Stop: Alan Turing').waitFor()
  await button('Stop them').click()
  await status.getByText('2 letters stopped.').waitFor()
  await bar.waitFor({ state: 'detached' })
  expect(await statesInDatabase()).toEqual(['draft', 'draft'])
  await page.getByText('No letters here.').waitFor()

  await link('Letters').click()
  await page.getByRole('link', { name: 'Review 2 drafts' }).click()
  await of('Zoë Zola').getByText('Dear Zoë, bring your bees.').waitFor()
  await page.getByRole('link', { name: 'Zoë Zola' }).click()
  await heading('Zoë Zola').waitFor()
  const timeline = page.locator('.timeline li')
  await timeline.getByText('Letter “Accepted” released').waitFor()
  await timeline.getByText('Letter “Accepted” withdrawn').waitFor()
  expect(await desk.statusOf(stored[0]?.id ?? '')).toBe('accepted')
})

test('a template with an unknown placeholder is refused, and its words are kept', async ({ visitor }) => {
  visitor.expects(failedRequest)
  await desk.store([zoe])
  const page = await desk.open(visitor, '/letters')
  const { button, heading, status } = getDesk(page)
  await page.getByLabel('Name of a new template').fill('Travel & 100% food')
  await button('New template').click()
  await heading('Template: Travel & 100% food').waitFor()
  await page.getByLabel('Subject').fill('How to get there')
  const text = page.getByLabel('Text', { exact: true })
  await text.fill('Hello {{frist_name}}, ')
  await page.getByText('There is no placeholder: frist_name').waitFor()
  await button('Save').click()
  await page.getByText('Not saved. There is no placeholder {{frist_name}}.').waitFor()
  expect(await text.inputValue()).toBe('Hello {{frist_name}}, ')

  await text.fill('Hello ')
  await button('{{first_name}}').click()
  expect(await text.inputValue()).toBe('Hello {{first_name}}')
  await page.locator('.letter').getByText('Hello Zoë', { exact: true }).waitFor()
  await button('Save').click()
  await status.getByText('Template saved.').waitFor()

  // Somebody else changes it meanwhile.
  await text.fill('Mine')
  await desk.bob.client
    .rpc('desk_set_template', {
      occasion: 'Travel & 100% food',
      version: 0,
      subject: 'Theirs',
      body: 'Theirs',
    })
    .throwOnError()
  await button('Save').click()
  await page.getByRole('alert').getByText('Somebody else changed this template meanwhile.').waitFor()
  expect(await text.inputValue()).toBe('Mine')
  await button('Save anyway').click()
  await status.getByText('Template saved.').waitFor()
  expect(await desk.sql`select body, version from private.templates where occasion like 'Travel%'`).toEqual([
    { body: 'Mine', version: 2 },
  ])
  await button('Remove').click()
  await button('Remove for good').click()
  await heading('Letters').waitFor()
  await page.getByRole('link', { name: 'Travel & 100% food' }).waitFor({ state: 'detached' })
})

test('where nobody carries letters each opens in the own mail program, and is noted as sent', async ({
  visitor,
}) => {
  await postman(false)
  const [stored] = await desk.store([{ ...zoe, company: 'Bees & Sons' }])
  await desk.stand(stored ? [stored] : [], 'declined')
  const page = await desk.open(visitor, '/letters')
  await page.getByText('Nobody carries letters yet').waitFor()
  const { button, heading, link, status } = getDesk(page)
  await page.getByRole('link', { name: 'Review 1 draft' }).click()
  const open = link('Open in mail program: Zoë Zola')
  const address = new URL((await open.getAttribute('href')) ?? '')
  expect(address.href.split('?')[0]).toBe('mailto:zoe@example.org')
  expect(address.searchParams.get('subject')).toBe('Your application to Unplugged')
  expect(address.searchParams.get('body')).toMatch(/^Hello Zoë,\r\n\r\n[^]*Bees & Sons[^]*\.$/)
  expect(await button('Send 1 letter').count()).toBe(0)
  await button('I sent it: Zoë Zola').click()
  await status.getByText('Zoë Zola: sent by hand').waitFor()
  await page.getByText('No drafts here.').waitFor()

  await link('Applications').click()
  await page.getByRole('tab', { name: 'Declined' }).click()
  await page.getByText('letter sent').waitFor()
  await link('Zoë Zola').click()
  await heading('Zoë Zola').waitFor()
  await page.locator('.timeline').getByText('Letter “Declined” sent by hand').waitFor()
  await page.getByLabel('Letter', { exact: true }).selectOption('Declined')
  await button('Write').click()
  await page.getByText('They were sent this before.').waitFor()
  await button('Write again').click()
  await page.getByText('A draft is there; nothing has left.').waitFor()
  expect(await statesInDatabase()).toEqual(['draft', 'sent'])
})

test('more than thirty are sent by their number, and what was sent before by its own tick', async ({
  visitor,
}) => {
  const stored = await desk.store(
    Array.from({ length: 32 }, (_, place) => ({ ...zoe, email: `zoe.${place}@example.org` })),
  )
  await desk.stand(stored, 'accepted')
  await desk.sql`update private.letters set edition = 2 where application_id = ${stored[0]?.id ?? ''}`
  const page = await desk.open(visitor, '/letters/drafts/accepted')
  const { button, dialog, status } = getDesk(page)
  await button('Send 32 letters').click()
  await dialog.getByRole('heading', { name: 'Send 31 letters?' }).waitFor()
  await dialog.getByLabel(/^Send again to those who were sent this before/).check()
  await dialog.getByLabel('Type the number of letters, 32').fill('31')
  await dialog.getByRole('button', { name: 'Send 32 letters' }).click()
  await dialog.getByText('This is not the number of letters.').waitFor()
  await dialog.getByLabel('Type the number of letters, 32').fill('32')
  // Somebody removes one of them meanwhile.
  await desk.sql`
    update private.letters set state = 'withdrawn', withdrawn_at = now()
    where application_id = ${stored[1]?.id ?? ''}`
  await dialog.getByRole('button', { name: 'Send 32 letters' }).click()
  await status.getByText('31 letters on the way, 1 not sent').waitFor()
  await page.getByRole('alert').getByText('it is no draft any more').waitFor()
})

test('what was refused is shown with the words of the mail server, and tried again', async ({ visitor }) => {
  const [stored] = await desk.store([{ ...zoe, team_size: '' }])
  await desk.stand(stored ? [stored] : [], 'accepted')
  await desk.sql`
    update private.letters set state = 'refused', subject = 's', body = 'b', released_at = now(), attempts = 1,
      author = 'ada@example.org', answer = '550 5.1.1 no such user'`
  await desk.sql`update private.postman set paused_until = now() + interval '1 hour', problem = '535 wrong password'`
  const page = await desk.open(visitor, '/letters')
  const { button, heading, link, status } = getDesk(page)
  await page.getByText(/^The mail server keeps all letters until .*: 535 wrong password$/).waitFor()
  await desk.sql`update private.postman set paused_until = '-infinity', problem = ''`
  await page.getByLabel('Answers go to').fill('desk@example.org')
  await button('Save').click()
  await status.getByText('Saved. Answers go to desk@example.org.').waitFor()
  await button('Stop all letters').click()
  await status.getByText('All letters are stopped.').waitFor()
  await button('Let letters leave').click()
  await status.getByText('Letters leave again.').waitFor()
  await link('1 was refused').click()
  await page.getByText('550 5.1.1 no such user').waitFor()
  await link('Zoë Zola').click()
  await page.getByText('Letter “Accepted” was refused by the mail server: 550 5.1.1 no such user').waitFor()
  await page.goBack()
  await button('Try again: Zoë Zola').click()
  await status.getByText('Zoë Zola: is tried again').waitFor()
  expect(await statesInDatabase()).toEqual(['waiting'])
  await link('Door').click()
  await heading('Door').waitFor()
  await page.getByText('All letters stopped').waitFor()
})

test('axe finds nothing about letters, light, dark or in forced colours, and nothing sticks out', async ({
  visitor,
}) => {
  const stored = await desk.store([zoe, alan, { ...alan, first_name: 'A'.repeat(60), team_size: '' }])
  await desk.stand(stored, 'accepted')
  await desk.stand(stored.slice(0, 1), 'declined')
  await desk.sql`
    insert into private.templates (occasion, subject, body) values ('Travel', 'How to get there', '{{team_size}}')`
  await desk.ada.client
    .rpc('desk_write', { applications: stored.map(({ id }) => id), occasion: 'Travel' })
    .throwOnError()
  const page = await desk.open(visitor, '/letters')
  const screens = ['letters', 'drafts/accepted', 'drafts/Travel', 'templates/Travel', 'outbox/waiting']
  for (const screen of screens) {
    await page.evaluate(
      (path) => (location.hash = `#/${path}`),
      screen === 'letters' ? screen : `letters/${screen}`,
    )
    await page.locator('h1').waitFor()
    await page.locator('.sheet, h1 ~ p').first().waitFor()
    for (const width of [320, 360, 768, 1366]) {
      await page.setViewportSize({ width, height: 650 })
      for (const media of [
        { colorScheme: 'light', forcedColors: 'none' },
        { colorScheme: 'dark', forcedColors: 'none' },
        { colorScheme: 'dark', forcedColors: 'active' },
      ] as const) {
        await page.emulateMedia(media)
        expect(await accessibilityProblems(page), `${screen} ${width} ${JSON.stringify(media)}`).toEqual([])
      }
      expect(await overflow(page), `${screen} at ${width} px`).toEqual({ scroll: 0, wide: [] })
    }
  }
})
