import type { Page } from 'playwright-core'

import type { LetterPage, LettersOverview } from '../../src/client/desk/letters.ts'
import type { Sql } from '../../src/server/database/connection/sql.ts'
import { beginEdition, removeEditions } from './editions.ts'
import { storeExamplesAboutGuest } from './stored-guest.ts'
import { storeExampleAnswers } from './questions.ts'
import { resetRetention } from './retention.ts'

/** Stores varied applications: repeated email addresses, accents, an invalid LinkedIn. Their statuses are stored without acts. */
export async function storeExamples({ sql }: { sql: Sql }): Promise<void> {
  await sql`delete from public.retreat_applications`
  await removeEditions(sql)
  await resetRetention(sql)
  await sql.unsafe(`
    delete from private.history;
    delete from auth.users where email = 'tim@example.org';
    update private.letter_settings set receipts = false;
    update private.organisers set notices = 'off', blind = false, is_reader = false;
    update private.places set version = version + 1, places = 24, days = 10;
    update private.editions set starts_on = '2027-03-12', ends_on = '2027-03-15', venue = 'Hof Sonnenau, Bernau am Chiemsee';
    update private.editions set name = '';
    insert into public.retreat_applications (created_at, first_name, last_name, email, phone, linkedin, company,
      paid_solution, custom_solution, team_size, reason, consent)
    select now() - n * interval '5 hours',
      (array['Ada', 'Émile', 'Grace', 'Alan', 'Zoë', 'Linus', 'Barbara', 'Ken'])[1 + n % 8],
      (array['Lovelace', 'Zola', 'Hopper', 'Turing', 'Kravitz', 'Liskov', 'Thompson-Featherstonehaugh'])[1 + n / 3 % 7],
      'p' || n - (n % 20 = 0)::int || '@example.com', '+44 20 7946 0' || 100 + n,
      case when n % 3 = 0 then 'javascript:alert(1)' else 'linkedin.com/in/p' || n end,
      (array['Analytical Engines', 'Nana & Sons', 'Compilers United', 'Bletchley'])[1 + n % 4],
      (array['not', 'screen', 'travel', 'work', 'custom', ''])[1 + n % 6],
      case when n % 6 = 4 then 'A cabin without a router' else '' end,
      (array['just-me', '1-3', '3-10', '10+', ''])[1 + n % 5],
      (array['To hear myself think.', 'Because my phone knows me better than my friends do.',
        'I have not finished a book in two years.', 'To build one thing slowly, with others.'])[1 + n % 4]
        || E'\\n\\nWithout a phone, with a pen. The rest of the year is loud enough, all ' || 200 + n || ' days of it.', true
    from generate_series(1, 148) as n;
    insert into private.statuses (application_id, created_at, status, version)
      select id, created_at, (array['shortlisted', 'accepted', 'waitlisted', 'declined'])[1 + row % 4], 1
      from (select *, row_number() over (order by created_at desc) as row from public.retreat_applications) as newest
      where row > 12 and row % 3 = 0;
    update private.invitations set told_at = now() - interval '9 days', deadline = private.today() + number - 2,
        rsvp = (array['coming', null, 'not coming', null, 'coming'])[number + 1],
        rsvp_at = case when number % 2 = 0 then now() - interval '1 day' end
      from (select application_id, (row_number() over (order by created_at) % 6)::int as number
        from private.invitations join public.retreat_applications on id = application_id) as spread
      where invitations.application_id = spread.application_id and number < 5`)
  await storeExampleAnswers(sql)
  await orderByArrival(sql)
}

/** Sets the times of decisions and drafts to those of their applications, so that each run lists them in the same order. */
async function orderByArrival(sql: Sql): Promise<void> {
  await sql`
    update private.statuses set set_at = application.created_at
    from public.retreat_applications as application where application.id = application_id`
  await sql`
    update private.letters set drafted_at = application.created_at
    from public.retreat_applications as application where application.id = application_id`
}

/** The desk's screens and states, and how an organiser reaches each from the list. */
export const deskStates: Record<string, (page: Page, desk: { sql: Sql }) => Promise<void>> = {
  async list() {},
  async selected(page) {
    for (const name of ['Émile Lovelace', 'Alan Zola']) {
      await page
        .getByRole('checkbox', { name: `Select ${name}` })
        .first()
        .check()
    }
    await page.getByRole('button', { name: 'Accept', exact: true }).click()
    await page.getByRole('status').getByText('2 applications: Accepted').waitFor()
    await page.evaluate(() => scrollTo(0, 0))
  },
  async found(page) {
    await page.getByLabel('Search').fill('emile')
    await page.getByRole('link', { name: 'Grace' }).first().waitFor({ state: 'detached' })
  },
  async nothing(page) {
    await page.getByLabel('Search').fill('nobody')
    await page.getByText('No application matches.').waitFor()
  },
  application: open,
  async marks(page, { sql }) {
    await sql.unsafe(`
      with account as (insert into auth.users (id, email) values (gen_random_uuid(), 'tim@example.org') returning id)
      insert into private.organisers (account_id) select id from account;
      insert into private.marks (application_id, account_id, author, mark, why)
        select application.id, users.id, users.email, 'no', 'Reads like a pitch.'
        from public.retreat_applications as application, auth.users where users.email = 'tim@example.org'`)
    await open(page)
    await page.getByRole('button', { name: 'Yes', exact: true }).click()
    await page.getByText('Reads like a pitch.').waitFor()
  },
  async junk(page, { sql }) {
    await sql`
      update public.retreat_applications set reason = case when email < 'p2' then 'Best SEO now!' else 'https://shop.example' end
      where email < 'p4'`
    await page.reload()
    await page.getByRole('button', { name: 'like junk' }).click()
    await page.getByRole('dialog').waitFor()
  },
  async noted(page) {
    await open(page)
    await page.getByLabel('Note').fill('Met in Lisbon. Asks good questions.')
    await page.getByRole('button', { name: 'Add note' }).click()
    // The last announcement stays, whichever response comes last.
    await page.getByRole('status').getByText('Note added').waitFor()
    await page.getByRole('button', { name: 'Shortlist', exact: true }).click()
    await page.getByRole('status').getByText('Shortlisted').waitFor()
  },
  async letter(page) {
    await open(page)
    await writeLetter(page)
    await page.getByRole('button', { name: 'Save draft' }).scrollIntoViewIfNeeded()
  },
  async 'letter-draft'(page) {
    await showSendingServer(page)
    await open(page)
    await writeLetter(page)
    await page.getByRole('button', { name: 'Save draft' }).click()
    await page.getByRole('button', { name: 'Send 1 letter' }).scrollIntoViewIfNeeded()
  },
  async stale(page) {
    await page.route('**/rpc/desk_decide', async (route) => {
      const { decisions } = route.request().postDataJSON() as { decisions: { id: string }[] }
      const json = decisions.map(({ id }) => ({
        id,
        outcome: 'stale',
        status: 'declined',
        version: 9,
        author: 'alan@example.org',
        at: new Date().toISOString(),
      }))
      await route.fulfill({ json })
    })
    await open(page)
    await page.getByRole('button', { name: 'Accept', exact: true }).click()
    await page.getByRole('button', { name: 'Accept anyway' }).waitFor()
  },
  async erase(page) {
    await open(page)
    await page.getByRole('button', { name: 'Erase', exact: true }).click()
    await page.getByRole('dialog').waitFor()
  },
  async keys(page) {
    // Narrow windows have no button for this dialog.
    await page.keyboard.press('?')
    await page.getByRole('dialog').waitFor()
  },
  async letters(page) {
    await page.getByRole('link', { name: 'Letters' }).first().click()
    await page.getByRole('heading', { name: 'Drafts to send' }).waitFor()
  },
  async mail(page) {
    await showSendingServer(page)
    await page.getByRole('link', { name: 'Letters' }).first().click()
    await page.getByRole('heading', { name: 'Mail server' }).scrollIntoViewIfNeeded()
  },
  async drafts(page) {
    await page.getByRole('link', { name: 'Letters' }).first().click()
    await page.getByRole('link', { name: /^Review .* Decisions$/ }).click()
    await page.locator('.drafts-draft').first().waitFor()
  },
  async 'drafts-ticked'(page, { sql }) {
    await showSendingServer(page)
    await page.getByLabel('Select all shown').check()
    await page.getByRole('button', { name: 'Accept', exact: true }).click()
    await page.getByRole('status').getByText(': Accepted').waitFor()
    await orderByArrival(sql)
    await page.evaluate(() => (location.hash = '#/letters/drafts/accepted'))
    await page.locator('.drafts-draft').waitFor()
    await page.keyboard.press('j')
    await page.getByRole('button', { name: /^Edit/ }).click()
    await page.getByLabel('Subject').fill('A place in the cabin')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Edited for this person.').waitFor()
    await page.reload()
    await page.getByText('1 edited').waitFor()
    await page
      .getByRole('checkbox', { name: /^Send to/ })
      .nth(2)
      .uncheck()
    for (const key of ['j', 'j']) await page.keyboard.press(key)
  },
  async template(page) {
    await page.getByRole('link', { name: 'Letters' }).first().click()
    await page.getByRole('link', { name: 'Accepted', exact: true }).click()
    await page.locator('.letters-letter').waitFor()
  },
  async receipt(page) {
    await page.getByRole('link', { name: 'Letters' }).first().click()
    await page.getByRole('switch', { name: 'Send a receipt' }).check()
    await page.getByRole('status').getByText('Receipts are on.').waitFor()
    await page.getByRole('heading', { name: 'Receipt' }).scrollIntoViewIfNeeded()
  },
  async preview(page) {
    await showSendingServer(page)
    await page.getByRole('link', { name: 'Letters' }).first().click()
    await page.getByRole('link', { name: 'Declined', exact: true }).click()
    await page.getByLabel('Preview with').fill('linus')
    await page
      .locator('.templates-with li button', { hasText: /^Linus/ })
      .first()
      .click()
    await page.getByText('Hello Linus,').waitFor()
    // Leaves the results of a second search on the page.
    await page.getByLabel('Preview with').fill('grace')
    await page
      .locator('.templates-with li button', { hasText: /^Grace/ })
      .first()
      .waitFor()
  },
  async write(page) {
    const tick = async () => {
      for (const name of ['Émile Lovelace', 'Alan Zola', 'Grace Zola']) {
        await page
          .getByRole('checkbox', { name: `Select ${name}` })
          .first()
          .check()
      }
    }
    await tick()
    await page.getByRole('button', { name: 'Accept', exact: true }).click()
    await page.getByRole('status').getByText('3 applications: Accepted').waitFor()
    await tick()
    await page.getByRole('button', { name: 'Draft letters…' }).click()
    await page.getByLabel('Template').selectOption('Accepted')
    await page.getByRole('button', { name: 'Draft 3 letters' }).click()
    await page.getByRole('dialog').getByText('3 already had one').first().waitFor()
  },
  places: openPlaces,
  retreat: openRetreat,
  async 'first-steps'(page) {
    await openRetreat(page)
    await page.getByRole('link', { name: 'First steps' }).click()
    await page.getByText('Read every template').waitFor()
  },
  async 'places-reminded'(page) {
    await openPlaces(page)
    await page.getByRole('button', { name: /^Draft .*reminder/ }).click()
    await page.locator('.places-reminded').waitFor()
  },
  async page(page) {
    await openRetreat(page)
    await page.getByRole('link', { name: 'Page', exact: true }).click()
    // In a narrow window, the preview is closed at first.
    await page.frameLocator('iframe').getByText('First name').waitFor({ state: 'attached' })
  },
  async answer(page) {
    await openPlaces(page)
    await page.getByRole('link', { name: /of them late/ }).click()
    await page.locator('tbody .rows-name a').first().click()
    await page.getByRole('heading', { name: 'Are they coming?' }).waitFor()
  },
  async answers(page) {
    await openPlaces(page)
    await page.getByRole('link', { name: /No answer yet/ }).click()
    await page.getByRole('button', { name: 'Filters' }).click()
    await page.locator('tbody .rows-name a').first().waitFor()
  },
  async blind(page) {
    await turnOnBlindReading(page)
    await page.getByRole('link', { name: 'Applications' }).first().click()
    await page.locator('tbody .rows-name a').first().click()
    await page.getByRole('button', { name: 'Reveal' }).waitFor()
  },
  async 'blind-places'(page) {
    await turnOnBlindReading(page)
    await openPlaces(page)
    await page.getByRole('button', { name: /^Draft .*reminder/ }).click()
    await page.locator('.places-reminded').waitFor()
  },
  async questions(page) {
    await openQuestions(page)
    await page.getByRole('button', { name: 'Save', exact: true }).waitFor()
    await page.getByText('Private answers are erased on').waitFor()
  },
  async 'questions-edited'(page) {
    await openQuestions(page)
    await page.getByRole('button', { name: 'Add question' }).click()
    const added = page.getByRole('group', { name: 'Question 6' })
    await added.getByLabel('Question', { exact: true }).fill('Which workshop do you join?')
    await added.getByLabel('Kind').selectOption('One of several')
    await added.getByLabel('Options').fill('Bread\nBirds\nNothing at all')
    await page.getByRole('button', { name: 'Remove: question 1' }).click()
    await page.getByText('Remove question 1?').waitFor()
  },
  async 'questions-due'(page, { sql }) {
    await sql`update private.editions set starts_on = '2026-03-12', ends_on = '2026-03-15'`
    await openQuestions(page)
    await page.getByRole('button', { name: 'Erase them now' }).click()
    await page.getByText('for good?').waitFor()
  },
  async 'no-questions'(page, { sql }) {
    await sql`delete from private.questions`
    await openQuestions(page)
    await page.getByText('There are no questions yet.').waitFor()
  },
  guests: openGuests,
  async 'guests-private'(page) {
    await openGuests(page)
    await page.getByRole('checkbox', { name: /emergency/ }).check()
    await page.getByRole('checkbox', { name: 'Phone' }).check()
    await page.getByRole('checkbox', { name: 'Company' }).check()
  },
  async 'no-guests'(page, { sql }) {
    await sql`update private.invitations set rsvp = null`
    await openPlaces(page)
    await page.getByRole('link', { name: 'Guest list' }).click()
    await page.getByText('Nobody is coming yet.').waitFor()
  },
  async guest(page) {
    await openGuest(page)
    await page.getByRole('button', { name: 'Enter answers' }).scrollIntoViewIfNeeded()
  },
  async person(page, { sql }) {
    await storeExamplesAboutGuest(sql)
    await openGuest(page)
    await page.getByRole('link', { name: 'Everything about this person' }).click()
    await page.getByRole('heading', { name: 'Deliveries' }).waitFor()
  },
  async 'guest-enter'(page) {
    await openGuest(page)
    await page.getByRole('button', { name: 'Enter answers' }).click()
    await page.getByRole('dialog').waitFor()
  },
  async 'blind-guests'(page, { sql }) {
    // Only one guest, since blind readers see guests in the order of their random ids.
    await sql`
      update private.invitations set rsvp = null
      where application_id in (select id from public.retreat_applications where last_name <> 'Lovelace')`
    await turnOnBlindReading(page)
    await openGuests(page)
  },
  async 'second-retreat'(page, { sql }) {
    await beginSecondRetreat(page, sql)
    await page.getByLabel('Retreat', { exact: true }).waitFor()
    await page.getByText('applied before').first().waitFor()
  },
  async 'earlier-list'(page, { sql }) {
    await beginSecondRetreat(page, sql)
    await readEarlierRetreat(page)
    await page.getByRole('link', { name: 'Zoë Zola' }).first().waitFor()
  },
  async 'earlier-places'(page, { sql }) {
    await beginSecondRetreat(page, sql)
    await openPlaces(page)
    await readEarlierRetreat(page)
    await page.locator('.places-total').waitFor()
  },
  async 'earlier-questions'(page, { sql }) {
    await beginSecondRetreat(page, sql)
    await openRetreat(page)
    await readEarlierRetreat(page)
    await page.getByRole('link', { name: 'Questions' }).click()
    await page.getByText('Private answers are erased on').waitFor()
  },
  async 'applied-before'(page, { sql }) {
    await beginSecondRetreat(page, sql)
    await page.locator('tbody tr', { hasText: 'applied before' }).first().getByRole('link').click()
    await page.getByRole('heading', { name: 'Other applications with this email' }).waitFor()
    await page.getByText('First retreat').waitFor()
  },
  async 'next-retreat'(page) {
    await openRetreat(page)
    await page.getByRole('link', { name: 'Next retreat' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Spring 2028')
    await page.getByLabel('Copy the templates').uncheck()
    await page.getByRole('button', { name: 'Begin retreat' }).click()
    await page.getByText('Begin Spring 2028?').waitFor()
    await page.evaluate(() => scrollTo(0, 0))
  },
  async 'many-retreats'(page, { sql }) {
    await beginSecondRetreat(page, sql)
    await beginEdition(
      sql,
      'Without a phone, with a pen: the third, and longest, of all these retreats by the lake so far',
    )
    await openRetreat(page)
    await page.getByRole('link', { name: 'Next retreat' }).click()
    await page.getByLabel('Name of retreat 3').waitFor()
  },
  async retention(page, { sql }) {
    await endFirstRetreat(sql)
    await sql`
      insert into private.holds (application_id, reason, held_by, held_at)
      select id, 'Wants to apply again next year', 'grace@example.org', '2026-11-20' from public.retreat_applications
      order by created_at limit 1`
    await sql`select private.announce_and_erase_applications(100)`
    await page.evaluate(() => (location.hash = '#/retention'))
    await page.getByText('this is day 1.').waitFor()
  },
  async keep(page, { sql }) {
    await endFirstRetreat(sql)
    await page.locator('tbody .rows-name a').first().click()
    await page.getByRole('button', { name: 'Keep', exact: true }).click()
    await page.getByLabel('Reason', { exact: true }).fill('Wants to apply again next year')
  },
  async door(page) {
    await openRetreat(page)
    await page.getByRole('link', { name: 'Door' }).click()
    await page.getByRole('button', { name: 'Save' }).waitFor()
  },
  async account(page) {
    await page.getByRole('link', { name: 'Account' }).first().click()
    await page.getByRole('heading', { name: 'Account' }).waitFor()
    await page.getByRole('radio', { name: 'One a day' }).click()
    await page.getByText('No email is sent until this site has a mail server.').waitFor()
    await page.getByRole('status').getByText('Saved.').waitFor()
    await page.evaluate(() => scrollTo(0, 0))
  },
  async 'add-person'(page) {
    const add = page.getByRole('button', { name: 'Add a person', includeHidden: true })
    await add.waitFor({ state: 'attached' })
    // On a phone, it is shown with the filters.
    if (!(await add.isVisible())) await page.getByRole('button', { name: 'Filters' }).click()
    await add.click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('First name').fill('Émile')
    await dialog.getByLabel('Email').fill('p1@example.com')
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await dialog.getByText('This email is here already:').waitFor()
  },
  async withdrawn(page, { sql }) {
    await sql`
      insert into private.statuses (application_id, created_at, status, version, withdrawn_at)
      select id, created_at, 'new', 0, now() from public.retreat_applications order by created_at desc limit 1`
    await page.locator('tbody .rows-name a').first().click()
    await page.getByText('Withdrawn').first().waitFor()
  },
  async invited(page) {
    await page.getByRole('link', { name: 'Account' }).first().click()
    await page.getByLabel('Their email').fill('tim@example.org')
    await page.getByRole('button', { name: 'Invite', exact: true }).click()
    await page.getByText('This site sends no emails.').waitFor()
  },
  async reader(page, { sql }) {
    await sql`update private.organisers set is_reader = true`
    await page.reload()
    await page.locator('tbody .rows-name a').first().click()
    await page.locator('#note').waitFor()
  },
  async history(page) {
    await openRetreat(page)
    await page.getByRole('link', { name: 'History' }).click()
    await page.getByRole('heading', { name: 'History' }).waitFor()
  },
}

const findings: LettersOverview['postman']['findings'] = [
  {
    about: 'mail',
    verdict: 'ok',
    said: 'mail.example.org:587 answers over TLS, and accepts the user and password.',
  },
  {
    about: 'sender',
    verdict: 'wrong',
    said: 'retreat.example has no DMARC, which large providers ask for: have a TXT record made at _dmarc.retreat.example, such as "v=DMARC1; p=none".',
  },
]

/** Makes the page show that a server sends letters and has checked the mail server. */
async function showSendingServer(page: Page) {
  const withSendingServer = ({ postman, ...overview }: LettersOverview): LettersOverview => ({
    ...overview,
    postman: { ...postman, is_there: true, checked_at: new Date().toISOString(), findings },
  })
  await page.route('**/rpc/desk_letters', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ json: withSendingServer((await response.json()) as LettersOverview) })
  })
  await page.route('**/rpc/desk_drafts', async (route) => {
    const response = await route.fetch()
    const drafts = (await response.json()) as LetterPage
    await route.fulfill({ json: { ...drafts, overview: withSendingServer(drafts.overview) } })
  })
}

async function writeLetter(page: Page) {
  await page.getByRole('button', { name: 'Write from scratch' }).click()
  await page.getByLabel('Subject').fill('A question before we decide')
  await page
    .getByLabel('Text', { exact: true })
    .fill('Dear Zoë,\n\nwould you come for the second week alone?\n\nGrace')
}

async function turnOnBlindReading(page: Page) {
  await page.getByRole('link', { name: 'Account' }).first().click()
  await page.getByRole('switch', { name: 'Blind reading' }).check()
  await page.getByRole('status').getByText('Blind reading is on.').waitFor()
}

/** Moves the first retreat and its twelve oldest applications years back. They are then due to be erased, except guests'. */
async function endFirstRetreat(sql: Sql) {
  await sql`update private.editions set starts_on = '2024-03-12', ends_on = '2024-03-15'`
  await sql`update private.retention set months = 12, months_for_guests = 120`
  await sql`update public.retreat_applications set created_at = created_at - interval '3 years' where id in (
    select id from public.retreat_applications order by created_at limit 12
  )`
}

/** Begins a second retreat, to which eight people of the first apply again and four others apply. */
async function beginSecondRetreat(page: Page, sql: Sql) {
  await beginEdition(sql, 'Spring 2028')
  await sql`
    insert into public.retreat_applications (created_at, first_name, last_name, email, phone, linkedin, company,
      paid_solution, custom_solution, team_size, reason, consent)
    select now() + n * interval '1 second', first_name, last_name, case when n % 3 = 0 then 'new' || email else email end,
      phone, linkedin, company, paid_solution, custom_solution, team_size, reason, consent
    from (select *, row_number() over (order by created_at) as n from public.retreat_applications) as former where n <= 12`
  await page.reload()
  await page.locator('tbody .rows-name a').first().waitFor()
}

async function readEarlierRetreat(page: Page) {
  await page.getByLabel('Retreat', { exact: true }).selectOption('First retreat')
  await page.getByText('This is First retreat.').waitFor()
}

async function openPlaces(page: Page) {
  await page.getByRole('link', { name: 'Guests', exact: true }).first().click()
  await page.locator('.places-numbers').waitFor()
}

async function openRetreat(page: Page) {
  await page.getByRole('link', { name: 'Retreat', exact: true }).first().click()
  await page.getByRole('button', { name: 'Save retreat' }).waitFor()
}

async function openQuestions(page: Page) {
  await openRetreat(page)
  await page.getByRole('link', { name: 'Questions' }).click()
}

async function openGuests(page: Page) {
  await openPlaces(page)
  await page.getByRole('link', { name: 'Guest list' }).click()
  await page.getByRole('table').waitFor()
}

async function openGuest(page: Page) {
  await openGuests(page)
  await page.getByRole('table').getByRole('link', { name: 'Émile Lovelace' }).click()
  await page.getByRole('heading', { name: 'Questions to guests' }).waitFor()
}

async function open(page: Page) {
  await page.getByRole('link', { name: 'Zoë Zola' }).first().click()
  await page.getByRole('heading', { name: 'What happened' }).waitFor()
}
