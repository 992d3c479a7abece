/** The engines that play the journeys, all of them if no engine is named: `npm run test:engines -- firefox webkit`. */
import ICAL from 'ical.js'
import { deepStrictEqual, ok } from 'node:assert'

import type { Application } from '../../src/application/application.ts'
import { questions, textFields } from '../../src/application/fields.ts'
import { storeAcceptedApplicant, rsvpsOf } from '../support/accepted.ts'
import { setRetreat } from '../support/calendars.ts'
import { send } from '../support/send-application.ts'
import { engines, type Engine, type EngineBrowser } from '../support/engines.ts'
import { anApplication } from '../support/form.ts'
import { startGate, type Gate } from '../support/script-gate.ts'
import { startMailServer, type MailServer } from '../support/mail-server.ts'
import { freePort } from '../support/ports.ts'
import { storeQuestions } from '../support/questions.ts'
import { runCommand, startServer, dataDirectory } from '../support/server.ts'
import { changeAsOthersDo } from '../support/translation.ts'
import { until } from '../support/until.ts'
import { within } from '../support/within.ts'
import { connectToEmbedded } from '../support/sql.ts'
import type { Pool } from '../../src/server/database/connection/pool.ts'

const requestedEngines = process.argv.slice(2)
for (const name of requestedEngines) {
  if (name in engines) continue
  console.error(`There is no engine "${name}"; there are ${Object.keys(engines).join(', ')}.`)
  process.exit(1)
}

/** In milliseconds. The longest journey takes a tenth of this time. */
const journeyTimeout = 120_000
/** In milliseconds, for closing a browser. */
const closeTimeout = 10_000

const active = `document.activeElement?.name || document.activeElement?.className`
const hasTakenOver = `window.isReady === true`

/** Resolves when the expression is true in the page. */
async function waitUntilTrue(browser: EngineBrowser, expression: string) {
  const isTrue = async () => (await browser.evaluate(expression)) === true
  await until(expression, isTrue).catch(async (cause: unknown) => {
    const shown = String(await browser.evaluate('document.body.innerText'))
    throw new Error(`The page showed:\n${shown}`, { cause })
  })
}

/** Accepts the open application by its button. Once another journey has marked one, the bar has marks first. */
async function accept(browser: EngineBrowser) {
  const button = '.decisions-bar [data-status=accepted]'
  await browser.waitFor('.decisions-bar button')
  if ((await browser.evaluate(`document.querySelector('${button}') === null`)) === true)
    await browser.click('.decisions-mode')
  await browser.waitFor(button)
  await browser.click(button)
}

/** Waits for a button whose words begin like this, and presses it. */
const pressButton = (browser: EngineBrowser, beginning: string) =>
  waitUntilTrue(
    browser,
    `(([button]) => button !== undefined && (button.click(), true))(
      [...document.querySelectorAll('button')].filter((each) => each.textContent.startsWith('${beginning}')))`,
  )

interface JourneyContext {
  browser: EngineBrowser
  /** A proxy in front of the server, which can hold or cut the page's script. */
  gate: Gate
  /** The server's database. */
  sql: Pool
  /** The mail server that receives letters. */
  mailServer: MailServer
  /** Adds an organiser. Returns a link that signs the organiser in once. */
  signInLink: () => Promise<string>
  /** The applications that are stored under an email address. */
  stored: (email: string) => Promise<Record<string, unknown>[]>
}

async function fill(browser: EngineBrowser, application: Application) {
  for (const { name } of textFields) await browser.type(`#${name}`, application[name])
  await browser.type('[name=custom_solution]', `${application.custom_solution}\n`)
  await browser.click(`[name=team_size][value="${application.team_size}"]`)
  await browser.type('#reason', application.reason)
  await browser.click('[name=consent]')
}

const newApplication = () => anApplication({ paid_solution: 'custom', custom_solution: 'A cabin' })

async function expectStoredOnce({ stored }: JourneyContext, application: Application) {
  const rows = await stored(application.email)
  deepStrictEqual(rows.length, 1, 'the application is stored once')
  for (const [column, answer] of Object.entries(application)) deepStrictEqual(rows[0]?.[column], answer)
}

/** The tests that a browser of each engine runs, by title. Each is the way of a person through the pages. */
const journeys: Record<string, (context: JourneyContext) => Promise<void>> = {
  async 'a founder applies with keys and clicks alone, and the form is ready for another application'(
    context,
  ) {
    const { browser, gate } = context
    const application = newApplication()
    await browser.open(gate.origin)
    deepStrictEqual(await browser.evaluate('document.title'), 'Unplugged.')
    await fill(browser, application)
    await browser.click('button')
    await browser.waitFor('.outcome.success')
    // The box gets the focus once it appears.
    await waitUntilTrue(browser, `document.activeElement === document.querySelector('.outcome')`)
    const seen = await browser.evaluate(`({
      title: document.querySelector('.outcome h2').textContent,
      answers: [...new FormData(document.forms[0])].filter(([, answer]) => answer !== ''),
      consent: document.querySelector('[name=consent]').checked,
      button: document.querySelector('button').textContent,
      address: location.search,
      overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    })`)
    deepStrictEqual(seen, {
      title: 'Application Submitted Successfully!',
      answers: [],
      consent: false,
      button: 'Send Details!',
      address: '',
      overflow: 0,
    })
    await expectStoredOnce(context, application)
  },

  async 'no script is requested before the first input, and nothing typed is lost while the script loads, even if others change the page'(
    context,
  ) {
    const { browser, gate } = context
    const application = newApplication()
    const requestsBefore = gate.scriptRequests()
    gate.setScriptBehaviour('hold')
    await browser.open(gate.origin)
    deepStrictEqual(gate.scriptRequests(), requestsBefore)
    await browser.evaluate(`(${String(changeAsOthersDo)})()`)
    await fill(browser, application)
    await browser.click('button')
    const sending = `({
      label: document.querySelector('button').textContent,
      inert: document.querySelector('#fields').inert,
    })`
    deepStrictEqual(await browser.evaluate(sending), { label: 'Submitting...', inert: true })
    await waitUntilTrue(
      browser,
      `document.querySelector('button').getBoundingClientRect().bottom <= innerHeight`,
    )
    gate.setScriptBehaviour('pass')
    await browser.waitFor('.outcome.success')
    deepStrictEqual(gate.scriptRequests(), requestsBefore + 1)
    await expectStoredOnce(context, application)
  },

  async 'a script that failed is requested again at the next input'({ browser, gate }) {
    gate.setScriptBehaviour('cut')
    await browser.open(gate.origin)
    const requestsBefore = gate.scriptRequests()
    await browser.type('#first_name', 'A')
    await until('the request for the script', () => gate.scriptRequests() > requestsBefore)
    gate.setScriptBehaviour('pass')
    const input = `document.querySelector('#first_name').dispatchEvent(new Event('input', { bubbles: true }))`
    await waitUntilTrue(browser, `${input} && ${hasTakenOver}`)
    deepStrictEqual(await browser.evaluate(`document.querySelector('#first_name').value`), 'A')
  },

  async 'if the script never loads, the browser posts the form with every answer'(context) {
    const { browser, gate } = context
    const application = newApplication()
    gate.setScriptBehaviour('hold')
    await browser.open(gate.origin)
    await fill(browser, application)
    await browser.click('button')
    await browser.waitFor('.outcome.success')
    await expectStoredOnce(context, application)
  },

  async 'another page can be opened while a form that was sent waits for the script'({ browser, gate }) {
    gate.setScriptBehaviour('hold')
    await browser.open(gate.origin)
    await fill(browser, newApplication())
    await browser.click('button')
    await browser.open(`${gate.origin}/livez`)
    deepStrictEqual(await browser.evaluate('location.pathname'), '/livez')
  },

  async 'a refused send scrolls the first refused field to the middle, with its label'({ browser, gate }) {
    await browser.open(gate.origin)
    for (const { name } of textFields.slice(0, -1))
      await browser.type(`#${name}`, name === 'email' ? 'a@b.example' : 'x')
    await browser.evaluate(`(document.querySelector('button').scrollIntoView(), true)`)
    await browser.click('button')
    await waitUntilTrue(browser, `document.activeElement.id === 'company'`)
    const isCentred = `(({ top, bottom }) => top >= 0 && Math.abs((top + bottom) / 2 - innerHeight / 2) < innerHeight / 8)(
      document.querySelector('#company').closest('.field').getBoundingClientRect())`
    await waitUntilTrue(browser, isCentred)
  },

  async 'moving backwards with the keyboard keeps label and field visible'({ browser, gate }) {
    await browser.open(gate.origin)
    await browser.click('[name=consent]')
    // The page's script keeps them visible, and is requested at the first press.
    await waitUntilTrue(browser, hasTakenOver)
    const inSight = `(({ top, bottom }) => top >= 0 && bottom <= innerHeight)(
      document.activeElement.closest('.field, .choice').getBoundingClientRect())`
    // Engines differ in how many radios of a group are tab stops.
    const stops = [await browser.evaluate(active)]
    while (stops.at(-1) !== 'first_name' && stops.length < 20) {
      await browser.press('Tab', 'Shift')
      await waitUntilTrue(browser, inSight)
      stops.push(await browser.evaluate(active))
    }
    for (const { name } of textFields) ok(stops.includes(name), `${name} is no tab stop: ${stops.join(', ')}`)
  },

  async 'a press of the custom radio focuses its box, arrow keys do not, and Enter stays there'({
    browser,
    gate,
  }) {
    await browser.open(gate.origin)
    // The page's script moves the focus, and is requested at the first press in a field.
    await browser.click('[name=first_name]')
    await waitUntilTrue(browser, 'window.isReady')
    await browser.click('[name=paid_solution][value=custom]')
    deepStrictEqual(await browser.evaluate(active), 'custom_solution')
    await browser.type('[name=custom_solution]', 'A cabin\n')
    deepStrictEqual(await browser.evaluate(`[${active}, document.querySelector('.custom-solution').value]`), [
      'custom_solution',
      'A cabin',
    ])
    await browser.click('[name=paid_solution][value=work]')
    await browser.press('ArrowDown')
    deepStrictEqual(await browser.evaluate(`[${active}, document.activeElement.value]`), [
      'paid_solution',
      'custom',
    ])
  },

  async 'the reason grows with its text, and the placeholder of the custom box fits'({ browser, gate }) {
    await browser.open(gate.origin)
    const inside = (selector: string) => `(({ scrollHeight, clientHeight }) => scrollHeight <= clientHeight)(
      document.querySelector('${selector}'))`
    deepStrictEqual(await browser.evaluate(inside('.custom-solution')), true)
    const height = `document.querySelector('#reason').clientHeight`
    const empty = Number(await browser.evaluate(height))
    await browser.type('#reason', 'One more line\n'.repeat(9))
    // If the browser cannot size the field by CSS, the page's script does so once it has loaded.
    await waitUntilTrue(browser, inside('#reason'))
    deepStrictEqual(Number(await browser.evaluate(height)) > empty, true)
  },

  async "a guest opens a letter's link, gives an RSVP, and changes it, with keys and clicks"({
    browser,
    gate,
    sql,
  }) {
    const guest = await storeAcceptedApplicant(sql)
    const venue = 'Höf; 👩‍🚀, Bernau'
    await setRetreat(sql, { starts_on: '2027-03-12', ends_on: '2027-03-15', venue })
    const focused = `document.activeElement.textContent`
    await browser.open(`${gate.origin}/answer/#${guest.token}`)
    await browser.waitFor('#place button')
    const day = new Date(guest.deadline).toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' })
    const seen = await browser.evaluate(`({
      shown: [...document.querySelectorAll('h1, #place p')].slice(0, 3).map((each) => each.textContent.replace(/\\s*–\\s*/, '–')),
      buttons: [...document.querySelectorAll('button')].map((each) => each.textContent),
      overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    })`)
    deepStrictEqual(seen, {
      shown: [
        'Your place at Unplugged. 12–15 March 2027',
        venue,
        `Hello Ada, your place is kept until ${day}.`,
      ],
      buttons: ['I am coming', 'I cannot come'],
      overflow: 0,
    })
    deepStrictEqual(await rsvpsOf(sql, guest), [])
    await browser.click('#place button')
    await waitUntilTrue(browser, `${focused}.startsWith('See you at Unplugged. 12')`)
    const retreat = (await browser.evaluate(`({
      venue: document.querySelector('#place p').textContent,
      file: decodeURIComponent(document.querySelector('#place [download="retreat.ics"]').href.split(',')[1]),
    })`)) as Record<'venue' | 'file', string>
    deepStrictEqual(retreat.venue, venue)
    const event = ICAL.Component.fromString(retreat.file).getFirstSubcomponent('vevent')
    deepStrictEqual(
      ['dtstart', 'dtend', 'location'].map((name) => String(event?.getFirstPropertyValue(name))),
      ['2027-03-12', '2027-03-16', venue],
    )
    await browser.click('#place button')
    await waitUntilTrue(browser, `${focused} === 'Keep it'`)
    await pressButton(browser, 'I cannot come')
    await waitUntilTrue(browser, `${focused} === 'You are not coming. Thank you for telling us.'`)
    deepStrictEqual(await rsvpsOf(sql, guest), ['not coming', 'coming'])
    await browser.evaluate(`(location.hash = '#nobody', true)`)
    await waitUntilTrue(
      browser,
      `document.querySelector('#place').textContent.startsWith('This link is incomplete.')`,
    )
  },

  async 'a guest answers questions, sees the answers again except a private one, and changes that'({
    browser,
    gate,
    sql,
  }) {
    const guest = await storeAcceptedApplicant(sql)
    const [arrival = '', diet = '', more = '', emergency = ''] = await storeQuestions(sql, [
      { text: 'When do you arrive?', is_required: true },
      { kind: 'choice', text: 'What do you eat?', choices: ['Everything', 'Vegan'], is_required: true },
      { kind: 'long', text: 'What else?' },
      { text: 'Whom do we call?', is_private: true },
    ])
    const control = (id: string, rest = '') => `[name="${id}"]${rest}`
    const focused = `document.activeElement.textContent`
    const submit = '#place form > button'
    await browser.open(`${gate.origin}/answer/#${guest.token}`)
    await browser.waitFor('#place button')
    await browser.click('#place button')
    await browser.waitFor(submit)
    // The browser asks for what is required.
    await browser.click(submit)
    await waitUntilTrue(browser, `document.activeElement.name === '${arrival}'`)
    await browser.type(control(arrival), ' Friday ')
    await browser.click(submit)
    await waitUntilTrue(browser, `document.activeElement.name === '${diet}'`)
    await browser.press('ArrowDown')
    await browser.click(control(diet, '[value=Vegan]'))
    await browser.type(control(more), 'A cello.\nAnd its bow.')
    await browser.type(control(emergency), 'Mary')
    await browser.click(submit)
    await waitUntilTrue(browser, `${focused} === 'Saved. Thank you.'`)
    await browser.evaluate(`(window.isFormer = true, location.reload(), true)`)
    await waitUntilTrue(
      browser,
      `!window.isFormer && document.querySelector('${submit}')?.textContent === 'Save answers'`,
    )
    const seen = await browser.evaluate(`({
      answers: [...new FormData(document.forms[0])].map(([, answer]) => answer.replaceAll('\\r', '')),
      change: document.querySelector('fieldset button').textContent,
      overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    })`)
    const answers = ['Friday', 'Vegan', 'A cello.\nAnd its bow.']
    deepStrictEqual(seen, { answers, change: 'Change', overflow: 0 })
    await browser.click('fieldset button')
    await waitUntilTrue(browser, `document.activeElement.id === '${emergency}'`)
    // Enter in a field of one line sends, too.
    await browser.type(control(emergency), 'Paul\n')
    await waitUntilTrue(browser, `${focused} === 'Saved. Thank you.'`)
    const rows = await sql<{ answer: string }[]>`
      select answer from private.question_answers join private.questions on questions.id = question_id
      where application_id = ${guest.id} order by position`
    deepStrictEqual(
      rows.map(({ answer }) => answer),
      [...answers, 'Paul'],
    )
  },

  async "an applicant opens a receipt's link, withdraws the application with two presses, and restores it"({
    browser,
    gate,
    sql,
  }) {
    const application = anApplication()
    deepStrictEqual(await send(gate.origin, application), 201)
    const [{ token }] = await sql<[{ token: string }]>`
      insert into private.withdrawal_links (application_id)
      select id from public.retreat_applications where email = ${application.email} returning token`
    const isWithdrawn = async () =>
      (
        await sql`
          select from private.statuses join public.retreat_applications on id = application_id
          where email = ${application.email} and withdrawn_at is not null`
      ).length === 1
    const shows = (words: string) =>
      waitUntilTrue(browser, `document.body.innerText.includes(${JSON.stringify(words)})`)
    await browser.open(`${gate.origin}/withdraw/#${token}`)
    await pressButton(browser, 'Withdraw my application')
    await shows('Do you want to withdraw your application?')
    deepStrictEqual(await isWithdrawn(), false)
    await pressButton(browser, 'Yes, withdraw it')
    await shows('is withdrawn.')
    deepStrictEqual(await isWithdrawn(), true)
    const excess = `document.documentElement.scrollWidth - document.documentElement.clientWidth`
    deepStrictEqual(await browser.evaluate(excess), 0)
    await pressButton(browser, 'Restore my application')
    await shows('we have your application of')
    deepStrictEqual(await isWithdrawn(), false)
  },

  async 'an organiser adds a person in a dialog, and invites a reader'({ browser, sql, signInLink }) {
    const [person, reader] = [`${crypto.randomUUID()}@example.com`, `${crypto.randomUUID()}@example.org`]
    await browser.open(await signInLink())
    await pressButton(browser, 'Sign in')
    await pressButton(browser, 'Add a person')
    await browser.waitFor('dialog[open] input[type=email]')
    await browser.type('dialog[open] input[required]', 'Grace')
    await browser.type('dialog[open] input[type=email]', `${person}\n`)
    await waitUntilTrue(browser, `document.querySelector('h1')?.textContent === 'Grace'`)
    deepStrictEqual((await sql`select from public.retreat_applications where email = ${person}`).length, 1)
    await browser.evaluate(`(location.hash = '#/account', true)`)
    const email = '#email, [name=email]'
    await browser.waitFor(email)
    await browser.type(email, `${reader}\n`)
    await waitUntilTrue(
      browser,
      `document.body.innerText.includes(${JSON.stringify(`${reader} gets an email`)})`,
    )
    deepStrictEqual(
      (
        await sql`
          select from private.organisers join auth.users on id = account_id where email = ${reader}`
      ).length,
      1,
    )
  },

  async 'an organiser signs in, finds an application, decides, adds a note, undoes, and reads everything about the person'({
    browser,
    gate,
    signInLink,
  }) {
    const application = anApplication()
    deepStrictEqual(await send(gate.origin, application), 201)
    const text = (selector: string) => `document.querySelector('${selector}')?.textContent`
    const name = `${application.first_name} ${application.last_name}`
    const waitForAnnouncement = (words: string) =>
      waitUntilTrue(browser, `${text('[role=status]')} === '${words}'`)
    await browser.open(await signInLink())
    await browser.waitFor('button')
    await browser.click('button')
    await browser.waitFor('#search')
    await browser.type('#search', application.email)
    await waitUntilTrue(
      browser,
      `${text('tbody .rows-name a')} === '${name}' && document.querySelectorAll('tbody .rows-name').length === 1`,
    )
    await browser.click('tbody .rows-name a')
    await waitUntilTrue(browser, `${text('h1')} === '${name}' && document.activeElement.tagName === 'H1'`)
    await accept(browser)
    await waitForAnnouncement(`${name}: Accepted`)
    // The decision adds an entry to the timeline, which moves the form below.
    await waitUntilTrue(browser, `document.querySelectorAll('.application-timeline li').length === 2`)
    await browser.type('#note', 'A strong one.')
    // The button may be behind the bar at the foot, and WebKit's driver does not scroll it into view.
    await browser.evaluate(
      `document.querySelector('.application-note-form button').scrollIntoView({ block: 'center' })`,
    )
    await browser.click('.application-note-form button')
    await waitForAnnouncement('Note added')
    await browser.click('.decisions-bar .decisions-undo')
    await waitForAnnouncement(`Undone: ${name} is New again`)
    await waitUntilTrue(browser, `document.querySelectorAll('.application-timeline li').length === 4`)
    const seen = await browser.evaluate(`({
      events: [...document.querySelectorAll('.application-timeline li')].map((each) => each.lastChild.textContent),
      status: ${text('.application-head .decisions-pill')},
      reason: ${text('.application-answers .application-long dd')},
      overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    })`)
    deepStrictEqual(seen, {
      events: ['Received', 'Accepted (was New)', 'A strong one.', 'New (was Accepted)'],
      status: 'New',
      reason: application.reason,
      overflow: 0,
    })
    await browser.evaluate(`(document.querySelector('a[href*="/all"]').click(), true)`)
    await waitUntilTrue(browser, `${text('h1')} === 'Everything about a person'`)
    for (const words of [questions.consent, 'A strong one.'])
      await waitUntilTrue(browser, `document.body.innerText.includes(${JSON.stringify(words)})`)
    const excess = `document.documentElement.scrollWidth - document.documentElement.clientWidth`
    deepStrictEqual(await browser.evaluate(excess), 0)
  },

  async 'an organiser marks an application by a key, then sees the mark of another organiser, and puts it aside and back'({
    browser,
    gate,
    sql,
    signInLink,
    stored,
  }) {
    const application = anApplication()
    deepStrictEqual(await send(gate.origin, application), 201)
    const [row] = await stored(application.email)
    await sql`
      insert into private.marks (application_id, account_id, author, mark, why)
      values (${String(row?.['id'])}, gen_random_uuid(), 'grace@example.org', 'no', 'Too early')`
    // Marks are shown only if there are two organisers. Each call of `signInLink` adds one.
    await signInLink()
    const text = (selector: string) => `(document.querySelector('${selector}')?.textContent ?? '')`
    await browser.open(await signInLink())
    await browser.waitFor('button')
    await browser.click('button')
    await browser.waitFor('#search')
    await browser.open(`${gate.origin}/desk#/applications/${String(row?.['id'])}`)
    await browser.waitFor('.application-marks')
    deepStrictEqual(await browser.evaluate(`${text('.application-marks')}.includes('grace')`), false)
    // Without “Go on”, a mark stays on its application.
    await browser.click('.layout-back input')
    await browser.press('1')
    await waitUntilTrue(browser, `${text('.application-marks li')} === 'No grace@example.org: Too early'`)
    deepStrictEqual(await browser.evaluate(text('.application-marks [aria-pressed=true]')), 'Yes')
    await browser.press('p')
    await waitUntilTrue(browser, `${text('.application-head .decisions-pill')} === 'Put aside'`)
    await browser.press('r')
    await waitUntilTrue(browser, `${text('.application-head .decisions-pill')} === 'New'`)
  },

  async 'an organiser keeps an application that would be erased, and begins the next retreat'({
    browser,
    gate,
    sql,
    signInLink,
    stored,
  }) {
    const application = anApplication()
    deepStrictEqual(await send(gate.origin, application), 201)
    const [row] = await stored(application.email)
    await sql`
      update private.editions set starts_on = '2026-03-12', ends_on = '2026-03-15'
      where id = (select max(id) from private.editions)`
    await sql`update private.retention set months = 120`
    const status = `document.querySelector('[role=status]')?.textContent`
    await browser.open(await signInLink())
    await browser.waitFor('button')
    await browser.click('button')
    await browser.waitFor('#search')
    await browser.open(`${gate.origin}/desk#/applications/${String(row?.['id'])}`)
    await waitUntilTrue(browser, `document.body.innerText.includes('It is due to be erased on')`)
    await pressButton(browser, 'Keep')
    await browser.waitFor('dialog[open] input')
    await browser.type('dialog[open] input', 'Comes again\n')
    await waitUntilTrue(
      browser,
      `${status} === '${application.first_name} ${application.last_name}: kept' && document.activeElement.tagName === 'H1'`,
    )
    const holds = await sql<{ reason: string }[]>`
      select reason from private.holds where application_id = ${String(row?.['id'])}`
    deepStrictEqual(
      holds.map(({ reason }) => reason),
      ['Comes again'],
    )
    await browser.open(`${gate.origin}/desk#/retreats`)
    await browser.waitFor('form input[required]')
    await browser.type('form input[required]', 'Spring 2028')
    await pressButton(browser, 'Begin retreat')
    await pressButton(browser, 'Begin now')
    await waitUntilTrue(
      browser,
      `${status} === 'Spring 2028 has begun. Applications from now on belong to it.' && location.hash === '#/retreat'`,
    )
    // For an hour after a retreat begins, the same answers count as a retry and are not stored. This ends that hour.
    await sql`update private.door set repeats_until = null`
    deepStrictEqual(await send(gate.origin, application), 201)
    await browser.evaluate(`(location.hash = '#/', true)`)
    await waitUntilTrue(
      browser,
      `document.querySelectorAll('tbody .rows-name').length === 1 && document.body.innerText.includes('applied before')`,
    )
    const overflow = `document.documentElement.scrollWidth - document.documentElement.clientWidth`
    deepStrictEqual(await browser.evaluate(overflow), 0)
  },

  async 'an accepted person gets a letter and gives an RSVP with its link, and the desk shows it'(context) {
    const { browser, gate, sql, mailServer } = context
    const application = anApplication({ first_name: 'Grace' })
    deepStrictEqual(await send(gate.origin, application), 201)
    const [row] = await context.stored(application.email)
    await sql`update private.letter_settings set hold = '0'`
    const text = (selector: string) => `(document.querySelector('${selector}')?.textContent ?? '')`
    await browser.open(await context.signInLink())
    await browser.waitFor('button')
    await browser.click('button')
    await browser.waitFor('#search')
    const applicationUrl = `${gate.origin}/desk#/applications/${String(row?.['id'])}`
    await browser.open(applicationUrl)
    await accept(browser)
    await waitUntilTrue(browser, `${text('[role=status]')}.endsWith(': Accepted')`)
    await browser.open(`${gate.origin}/desk#/letters/drafts/accepted`)
    await pressButton(browser, 'Send ')
    await browser.waitFor('dialog[open]')
    await browser.click('dialog[open] button[form]')
    const [letter] = await mailServer.waitFor(1, application.email)
    const [, token = ''] = /\/answer\/#([0-9a-f-]{36})/.exec(letter?.text ?? '') ?? []
    await browser.open(`${gate.origin}/answer/#${token}`)
    await waitUntilTrue(browser, `${text('#place')}.includes('Hello Grace, your place is kept until')`)
    await browser.click('#place button')
    await waitUntilTrue(browser, `${text('h1')}.startsWith('See you at')`)
    await browser.open(applicationUrl)
    await waitUntilTrue(browser, `${text('.application-head')}.includes('Coming, answered')`)
  },
}

let hasFailed = false
const mailServer = await startMailServer()

/** The engines to run, each with the function that starts it. */
const starts = Object.entries(engines)
  .filter(([name]) => requestedEngines.length === 0 || requestedEngines.includes(name))
  .flatMap(([name, find]) => {
    const start = find()
    if (start) return [{ name, start }]
    hasFailed ||= requestedEngines.includes(name)
    console.log(
      requestedEngines.includes(name)
        ? `✗ ${name} is not installed`
        : `- ${name} was left out: not installed`,
    )
    return []
  })

/** Starts a server for one journey at a time, because a journey sends all existing drafts. */
async function startWorker() {
  const directory = await dataDirectory()
  const port = String(await freePort())
  const settings = {
    DATA_DIR: directory.path,
    PORT: port,
    SITE_URL: `http://127.0.0.1:${port}`,
    SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`,
    MAIL_FROM: 'hello@example.org',
  }
  const server = await startServer(settings)
  const sql = connectToEmbedded(directory.path)
  const stored = async (email: string) => {
    const { stdout } = await runCommand(['applications', '--json'], settings)
    const rows = stdout.split('\n').filter((line) => line.includes(`"${email}"`))
    return rows.map((line) => JSON.parse(line) as Record<string, unknown>)
  }

  const running = new Map<string, Engine>()

  /** Plays a journey in a fresh browser. */
  const play = async (journey: string, { name, start }: (typeof starts)[number]) => {
    const engine = running.get(name) ?? (await start())
    running.set(name, engine)
    const gate = await startGate(server.origin)
    const browser = await engine.browser()
    const signInLink = async () => {
      const account = `organiser-${crypto.randomUUID()}@example.org`
      const { stdout } = await runCommand(['organisers', '--add', account], settings)
      return stdout.trim().replace(server.origin, gate.origin)
    }
    try {
      const context = { browser, gate, sql, mailServer, signInLink, stored }
      await within(journeyTimeout, 'the journey', Promise.resolve(journeys[journey]?.(context)))
      console.log(`✓ ${name}: ${journey}`)
    } catch (error) {
      hasFailed = true
      console.error(`✗ ${name}: ${journey}`, error)
    } finally {
      // A browser that is stuck ends with its engine.
      await within(closeTimeout, 'closing the browser', browser.close()).catch(console.error)
      gate.close()
    }
  }
  const stop = async () => {
    for (const engine of running.values()) await engine.stop()
    await sql.end()
    await server.stop()
    await directory.remove()
  }
  return { play, stop }
}

// The journeys run in parallel, since each waits about half of its time.
const remaining = Object.keys(journeys).flatMap((journey) =>
  starts.map((engine) => [journey, engine] as const),
)
await Promise.all(
  Array.from({ length: 4 }, async () => {
    const worker = await startWorker()
    for (let next = remaining.shift(); next; next = remaining.shift()) await worker.play(...next)
    await worker.stop()
  }),
)
await mailServer.close()
process.exit(hasFailed ? 1 : 0)
