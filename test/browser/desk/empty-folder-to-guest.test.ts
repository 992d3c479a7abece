import ICAL from 'ical.js'
import { join } from 'node:path'
import { expect } from 'vitest'

import { contentOf } from '../../support/calendars.ts'
import { getDesk } from '../../support/desk-page.ts'
import { anApplication, getForm } from '../../support/form.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { freePort } from '../../support/ports.ts'
import { runCommand, startServer, temporaryDirectory } from '../../support/server.ts'
import { connectToEmbedded } from '../../support/sql.ts'
import { test } from '../../support/browser-test.ts'

test('from an empty folder to a guest with the days in their calendar, without a terminal after the first link', async ({
  visitor,
}) => {
  const mailServer = await startMailServer()
  const port = await freePort()
  const settings = {
    DATA_DIR: join((await temporaryDirectory()).path, 'data'),
    PORT: String(port),
    SITE_URL: `http://127.0.0.1:${port}`,
    SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
    MAIL_FROM: 'hello@example.org',
    MAIL_PER_MINUTE: '0',
  }
  const { origin } = await startServer(settings)
  const { stdout } = await runCommand(['organisers', '--add', 'ada@example.org'], settings)

  const desk = await visitor.open(stdout.trim())
  const { button, link, status, row, select, heading } = getDesk(desk)
  // The first steps have links with the same names.
  const room = (name: string) => desk.getByRole('navigation', { name: 'Desk' }).getByRole('link', { name })
  await button('Sign in').click()
  await heading('Applications').waitFor()

  await room('Retreat').click()
  await desk.getByLabel('First day').fill('2027-06-12')
  await desk.getByLabel('Last day').fill('2027-06-15')
  await desk.getByLabel('Venue').fill('Hof Sonnenau, Bernau')
  await button('Save retreat').click()
  await status.getByText(/^Saved\. The retreat: 12.*15 June 2027, Hof Sonnenau, Bernau\.$/).waitFor()
  await desk.getByLabel('Places', { exact: true }).fill('12')
  await desk.getByLabel('Days to answer').fill('7')
  await button('Save places').click()
  await status.getByText('Saved. 12 of 12 places are free.').waitFor()

  await link('Page').click()
  await desk.getByLabel('Title', { exact: true }).fill('Slow Summer')
  await desk.getByLabel('Tagline').fill('Four days by the lake')
  await desk.getByLabel('About the retreat').fill('Bring a pen.\n\nQuestions? hello@example.org')
  await button('Save').click()
  await status.getByText('Saved.', { exact: true }).waitFor()
  const saved = performance.now()
  const hasWords = async () => (await (await fetch(origin)).text()).includes('Bring a pen.')
  await expect.poll(hasWords).toBe(true)
  console.log(`the page has what was saved after ${Math.round(performance.now() - saved)} ms`)
  const form = await visitor.open(origin)
  await form.getByRole('heading', { level: 1, name: 'Slow Summer' }).waitFor()
  for (const words of ['Four days by the lake', '12–15 June 2027', 'Hof Sonnenau, Bernau', 'Bring a pen.'])
    await form.getByText(words, { exact: true }).waitFor()
  await form.getByRole('link', { name: 'hello@example.org' }).waitFor()

  const founder = anApplication({ first_name: 'Grace', last_name: 'Hopper', email: 'grace@example.com' })
  await getForm(form).fill(founder)
  await getForm(form).button.click()
  await getForm(form).success.waitFor()

  await room('Applications').click()
  await select('Grace Hopper').check()
  await button('Accept').click()
  await row('Grace Hopper').getByText('Accepted').waitFor()
  await room('Letters').click()
  await desk.getByRole('link', { name: /^Review 1 draft/ }).click()
  const draft = desk.locator('.drafts-draft')
  for (const words of [
    'Your place at Slow Summer',
    /When: 12–15 June 2027\s+Where: Hof Sonnenau, Bernau/,
    'The organisers of Slow Summer',
  ])
    await draft.getByText(words).first().waitFor()
  // Otherwise the letter would wait for a minute, in which it can be stopped.
  await connectToEmbedded(settings.DATA_DIR)`update private.letter_settings set hold = '0'`
  await button('Send 1 letter').click()
  await desk.getByRole('dialog').getByRole('button', { name: 'Send 1 letter' }).click()

  const [mail] = await mailServer.waitFor(1, 'grace@example.com')
  expect(mail?.subject).toBe('Your place at Slow Summer')
  const [answerLink = ''] = /http\S+\/answer\/#[\w-]+/.exec(mail?.text ?? '') ?? []
  const answer = await visitor.open(answerLink, { isNew: true })
  await answer.getByRole('button', { name: 'I am coming', exact: true }).click()
  await answer.getByRole('heading', { level: 1, name: /^See you at Slow Summer 12.*15 June 2027$/ }).waitFor()
  const [file] = await Promise.all([
    answer.waitForEvent('download'),
    answer.getByRole('link', { name: 'Add to your calendar', exact: true }).click(),
  ])
  const event = ICAL.Component.fromString(contentOf(file)).getFirstSubcomponent('vevent')
  const values = ['dtstart', 'dtend', 'location', 'summary'].map((name) =>
    String(event?.getFirstPropertyValue(name)),
  )
  // The end of an event of whole days is the day after.
  expect(values).toEqual(['2027-06-12', '2027-06-16', 'Hof Sonnenau, Bernau', 'Slow Summer'])
})
