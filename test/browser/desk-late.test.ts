import type { Page, Route } from 'playwright-core'
import { beforeEach, expect } from 'vitest'

import { people } from '../support/applicants.ts'
import { deskForTestFile, focused, getDesk } from '../support/desk-page.ts'
import { beginEdition, removeEditions } from '../support/editions.ts'
import { test } from '../support/visitor.ts'
import { refresh, settle } from '../support/refresh.ts'

const desk = deskForTestFile()

beforeEach(async () => {
  await removeEditions(desk.sql)
  await desk.sql`update private.editions set name = ''`
  await desk.sql`delete from private.questions`
})

/** The address of a function of the desk. */
const addressOf = (name: string) => `**/rpc/desk_${name}`

/** Holds the next response of a function. Returns a function that lets it go on once it was requested. */
async function holdResponse(page: Page, name: string) {
  const held: Route[] = []
  await page.route(addressOf(name), (route) => void held.push(route), { times: 1 })
  return async () => {
    await expect.poll(() => held.length).toBe(1)
    const [route] = held
    const response = page.waitForResponse(addressOf(name))
    await route?.continue()
    await response
  }
}

test('a note that is being written keeps the focus, whatever a response that arrives meanwhile removes', async ({
  visitor,
}) => {
  const [ada] = await desk.store([{ first_name: 'Ada', last_name: 'N' }])
  await desk.setStatus(ada ? [ada] : [], 'accepted')
  const page = await desk.open(visitor, `/applications/${ada?.id}`)
  const { button, note, status } = getDesk(page)
  const goOn = await holdResponse(page, 'discard')
  await button('Remove: Ada N').click()
  await note.fill('Warm')
  await goOn()
  await status.getByText('Ada N: draft removed').waitFor()
  expect(await focused(page)).toBe('TEXTAREA: Note')
  expect(await note.inputValue()).toBe('Warm')
})

test('a draft that is unticked while another one is being removed stays unticked', async ({ visitor }) => {
  const stored = await desk.store(people(3))
  await desk.setStatus(stored, 'accepted')
  // Without a mail server there are no ticks.
  await desk.sql`update private.postman set seen_at = now() + interval '1 hour'`
  const page = await desk.open(visitor, '/letters/drafts/accepted')
  const box = page.getByRole('checkbox', { name: 'Send to Person 2' })
  await box.waitFor()
  await page.getByRole('radio', { name: 'Person 1' }).check()
  const goOn = await holdResponse(page, 'discard')
  await getDesk(page).button('Remove: Person 1').click()
  await box.uncheck()
  await goOn()
  await getDesk(page).status.getByText('Person 1: draft removed').waitFor()
  expect(await box.isChecked()).toBe(false)
})

test('the line about a mark that is typed while the mark is being saved stays', async ({ visitor }) => {
  const [ada] = await desk.store([{ first_name: 'Ada', last_name: 'N' }])
  const page = await desk.open(visitor, `/applications/${ada?.id}`)
  const why = page.getByLabel('Why, in a line')
  const goOn = await holdResponse(page, 'mark')
  await getDesk(page).button('Yes').click()
  await why.fill('Knows what to leave behind.')
  await goOn()
  await getDesk(page).status.getByText('Ada N: your mark is Yes').waitFor()
  expect(await why.inputValue()).toBe('Knows what to leave behind.')
})

test('signing out asks each time while a note or a decision is being saved, and not afterwards', async ({
  visitor,
}) => {
  const [stored] = await desk.store(people(1))
  const email = 'grace@example.org'
  const page = await desk.open(visitor, `/applications/${stored?.id}`, {
    as: { email, client: await desk.signedIn(email) },
  })
  const { button, link, note, status, heading, pill } = getDesk(page)
  const questions: string[] = []
  page.on('dialog', (dialog) => {
    questions.push(dialog.message())
    void dialog.dismiss()
  })
  const addNote = await holdResponse(page, 'note')
  await note.fill('Ask her.')
  await button('Add note').click()
  await button('Sign out').click()
  expect(questions).toEqual(['Sign out before your changes are saved?'])
  await addNote()
  await status.getByText('Note added').waitFor()
  for (const [act, key, outcome] of [
    ['Sign out', 'a', 'Accepted'],
    ['End all sessions', 'w', 'Waitlisted'],
  ] as const) {
    await heading('Person 1').waitFor()
    const decide = await holdResponse(page, 'decide')
    await page.keyboard.press(key)
    await expect.poll(() => pill.textContent()).toContain(outcome)
    await link('Account').click()
    await button(act).first().click()
    await decide()
    await status.getByText(`Person 1: ${outcome}`).waitFor()
    await page.goBack()
  }
  expect(questions).toHaveLength(3)
  await button('Sign out').click()
  await heading('Sign in').waitFor()
  expect(questions).toHaveLength(3)
})

test('the second click of a double click does not act on the next application or refusal', async ({
  visitor,
}) => {
  const stored = await desk.store(people(2))
  const page = await desk.open(visitor)
  const { alert, button, dialog, heading, link } = getDesk(page)
  await link('Person 1').waitFor()
  await page.keyboard.press('?')
  await dialog.getByLabel('Go on after a decision').check()
  await page.keyboard.press('Escape')
  await link('Person 1').click()
  await heading('Person 1').waitFor()
  await button('Accept').dblclick()
  await heading('Person 2').waitFor()
  await button('Undo: Person 1, accepted').waitFor()
  await expect.poll(() => Promise.all(stored.map(({ id }) => desk.statusOf(id)))).toEqual(['accepted', 'new'])

  // Two refusals, since a colleague decided differently on each.
  for (const [index, mine, theirs] of [
    [0, 'd', 'waitlisted'],
    [1, 'd', 'shortlisted'],
  ] as const) {
    await page.evaluate((id) => (location.hash = `#/applications/${id}`), stored[index]?.id)
    await heading(`Person ${index + 1}`).waitFor()
    await button('Decline').waitFor()
    await desk.setStatus(stored.slice(index, index + 1), theirs)
    await page.keyboard.press(mine)
    await alert.getByText(`Person ${index + 1}:`).waitFor()
  }
  await button('Decline anyway').first().dispatchEvent('click', { detail: 2 })
  await settle(page)
  expect(await alert.getByRole('button', { name: 'Decline anyway' }).count()).toBe(2)
})

test('a retreat whose response was lost is begun once, and one that a colleague began is not followed by another', async ({
  visitor,
}) => {
  visitor.allowConsoleError(/Failed to load resource/)
  const page = await desk.open(visitor, '/retreats', { prepare: (opened) => opened.clock.install() })
  const { button, heading, status } = getDesk(page)
  const name = page.getByLabel('Name', { exact: true })
  const began = (retreat: string) => page.getByRole('alert').getByText(`${retreat} has begun meanwhile.`)
  await name.fill('Spring 2028')
  // Both tries reach the server, and neither response arrives.
  await page.route(addressOf('begin_edition'), async (route) => {
    await route.fetch()
    await route.abort()
  })
  await button('Begin retreat').click()
  await button('Begin now').click()
  await began('Spring 2028').waitFor()
  await page.unroute(addressOf('begin_edition'))
  await button('Begin now').click()
  await status.getByText('Spring 2028 has begun.').waitFor()
  await heading('Places').waitFor()
  const editions = () => desk.sql`select name from private.editions order by id desc`
  expect(await editions()).toEqual([{ name: 'Spring 2028' }, { name: '' }])

  await page.evaluate(() => (location.hash = '#/retreats'))
  await name.fill('Autumn 2028')
  await button('Begin retreat').click()
  await beginEdition(desk.sql, 'Summer 2028')
  await refresh(page)
  await began('Summer 2028').waitFor()
  await button('Begin now').click()
  await page.getByText('Somebody else has begun a retreat meanwhile.').waitFor()
  expect(await editions()).toHaveLength(3)
  await button('Discard').click()
  expect(await name.inputValue()).toBe('')
  expect(await focused(page)).toBe('H1: Retreats')
})

test('questions that are being written stay with their retreat when the next one begins', async ({
  visitor,
}) => {
  const page = await desk.open(visitor, '/questions', { prepare: (opened) => opened.clock.install() })
  await getDesk(page).button('Add question').click()
  await page.getByLabel('Question', { exact: true }).fill('When do you arrive?')
  await beginEdition(desk.sql, 'Spring 2028')
  await refresh(page)
  await page.getByText('There are no questions yet.').waitFor()
  await page.evaluate(() => (location.hash = '#/questions?edition=1'))
  await page.getByLabel('Question', { exact: true }).waitFor()
  expect(await page.getByLabel('Question', { exact: true }).inputValue()).toBe('When do you arrive?')
})

test('a double click on “Stop all letters” does not send them', async ({ visitor }) => {
  const page = await desk.open(visitor, '/letters')
  await getDesk(page).button('Stop all letters').click()
  await getDesk(page).status.getByText('All letters are stopped.').waitFor()
  await getDesk(page).button('Resume sending').dispatchEvent('click', { detail: 2 })
  await settle(page)
  expect(await desk.sql`select stopped from private.postman`).toEqual([{ stopped: true }])
  await desk.sql`update private.postman set stopped = false`
})
