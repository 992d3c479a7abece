/** Takes all pictures of the docs: `npm run docs:pictures`. It starts and ends its own demonstration. */
import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import type { BrowserContextOptions, Locator, Page } from 'playwright-core'

import { organisers } from '../demo/desks.ts'
import { people } from '../demo/people.ts'
import { defaultLook } from '../src/design/look.ts'
import { message } from '../src/server/auth/mail/messages.ts'
import { renderMail } from '../src/server/mail/layout.tsx'
import { ensureChromium, findExecutable, launchChromium } from '../test/support/browser.ts'
import { send } from '../test/support/send-application.ts'
import { startDemonstration } from '../test/support/demonstration.ts'
import { anApplication, getForm } from '../test/support/form.ts'
import { dataDirectory, startServer } from '../test/support/server.ts'

const folder = join('docs', 'images')
const [{ email }] = organisers

const laptop = { viewport: { width: 1366, height: 650 } }
const tallLaptop = { viewport: { width: 1440, height: 900 } }
const phone = { viewport: { width: 390, height: 844 } }
const dark = { colorScheme: 'dark' } as const

// If neither program is installed, the first picture fails with the name of the newer one.
const imageMagick = findExecutable(['magick', 'convert']) ?? 'magick'
const demo = startDemonstration({ ...process.env, PORT: '0' })
const browser = await launchChromium(ensureChromium())

async function open(options: BrowserContextOptions, address: string) {
  const context = await browser.newContext({ reducedMotion: 'reduce', locale: 'en-GB', ...options })
  const page = await context.newPage()
  await page.goto(address)
  return page
}

/** @param part The part of the page to take; by default, what the window shows. */
async function take(name: string, page: Page, part?: Locator) {
  const path = join(folder, `${name}.png`)
  // Moves the pointer away from everything that reacts to hovering.
  await page.mouse.move(0, 0)
  await page.waitForLoadState('networkidle')
  await (part ?? page).screenshot({ path })
  const palette = ['-strip', '-dither', 'FloydSteinberg', '-colors', '256']
  execFileSync(imageMagick, [path, ...palette, `PNG8:${path}`])
}

async function takeForm(site: string) {
  await take('desktop', await open(tallLaptop, site))

  const applicant = people().find(({ linkedin }) => linkedin.startsWith('in/'))
  if (applicant === undefined) throw new Error('No LinkedIn is short enough for a phone.')
  const filled = await open(phone, site)
  await getForm(filled).fill(applicant)
  await filled.evaluate(() => scrollTo(0, 0))
  await take('phone', filled)

  // A repeated application succeeds and adds no row.
  const sent = await open({ ...laptop, ...dark }, site)
  await getForm(sent).fill(applicant)
  await getForm(sent).button.click()
  await getForm(sent).success.waitFor()
  await take('sent', sent)
}

/** Signs in on a phone by email. Returns the session for other windows. */
async function takeSignIn(desk: string, mailbox: string) {
  const page = await open(phone, desk)
  await page.getByLabel('Email').fill(email)
  await page.getByRole('button', { name: 'Send code' }).click()
  await page.getByRole('heading', { name: 'Type the code' }).waitFor()
  await take('code', page)

  const mail = await open(phone, mailbox)
  const newest = mail.locator('article').first().getByRole('heading')
  // The email is sent after the response.
  while (!(await newest.innerText()).includes('is your code')) await mail.reload()
  const code = (await newest.innerText()).slice(0, 6)
  const link = await mail.locator('article').first().getByRole('link').innerText()
  // The mailbox shows the plain text.
  const { paragraphs = [], why } = message('magiclink', { to: email, code, link })(defaultLook.title)
  await mail.setContent(renderMail({ paragraphs, lang: 'en', why }, defaultLook))
  await take('mail', mail)
  await page.getByRole('textbox').fill(code)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Applications' }).waitFor()
  return await page.context().storageState()
}

const rows = (page: Page) => page.locator('tbody .rows-name a')

/** Opens the applications of a list in turn, until one has several notes, such as a note and a reply. */
async function openWithReply(page: Page) {
  await rows(page).first().waitFor()
  const links = await rows(page).evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).href))
  for (const link of links) {
    await page.goto(link)
    await page.getByRole('heading', { name: 'What happened' }).waitFor()
    if ((await page.locator('.application-note').count()) > 1) return
  }
  throw new Error('Nobody answered a note.')
}

/** Takes pictures of marks that disagree, and of the charts of visits. */
async function takeMarksAndVisits(openDesk: (hash: string) => Promise<Page>) {
  const disagreed = await openDesk('/?status=all&marks=disagree')
  await rows(disagreed).first().click()
  await take('marks', disagreed, disagreed.locator('.application-marks'))

  const charts = await openDesk('/?status=all')
  await charts.getByRole('button', { name: 'Charts' }).click()
  const visits = charts.getByRole('region', { name: 'Visits' })
  await visits.getByRole('rowheader', { name: 'newsletter' }).waitFor({ state: 'attached' })
  await take('visits', charts, visits)
}

/** Applies as a program would, with one reason from four addresses. Takes a picture of the desk's junk suggestions. */
async function takeJunk(site: string, openDesk: (hash: string) => Promise<Page>) {
  for (const name of ['abe', 'bea', 'cid', 'dot']) {
    const application = anApplication({ email: `${name}@example.net`, reason: 'Visit us for cheap links!' })
    const status = await send(new URL(site).origin, application)
    if (status !== 201) throw new Error(`An application was refused: ${status}`)
  }
  const list = await openDesk('/')
  await list.getByRole('button', { name: '4 look like junk…' }).click()
  await list.getByText('4 with the same reason').waitFor()
  await take('junk', list, list.getByRole('dialog'))
}

/** Takes pictures of the screens about the retreat and its guests, about retention, and about one person. */
async function takeRetreat(openDesk: (hash: string) => Promise<Page>) {
  const words = await openDesk('/page')
  await words.getByLabel('Title', { exact: true }).fill('Slow Summer')
  await words.getByLabel('Tagline').fill('Four days by the lake, without a screen')
  await words.frameLocator('iframe').getByText('Slow Summer').waitFor()
  await take('page', words)

  const guests = await openDesk('/guests')
  await guests.locator('.guests-table tbody tr').first().waitFor()
  await take('guests', guests)

  const questions = await openDesk('/questions')
  await questions.getByRole('heading', { name: 'What guests are asked' }).waitFor()
  await take('questions', questions)

  const retreats = await openDesk('/retreats')
  await retreats.getByRole('heading', { name: 'Begin the next retreat' }).waitFor()
  await take('retreats', retreats)

  const retention = await openDesk('/retention')
  const months = retention.getByRole('spinbutton')
  await months.first().fill('12')
  await months.last().fill('36')
  await take('retention', retention)

  const accepted = await openDesk('/?status=accepted')
  await rows(accepted).first().click()
  await accepted.getByRole('link', { name: 'Everything about this person' }).click()
  await accepted.getByRole('heading', { name: 'Everything about a person' }).waitFor()
  await take('person', accepted)
}

/** Takes pictures of the desk's screens, in the order of an application's way through them. */
async function takeDesk(site: string, signedIn: BrowserContextOptions) {
  const openDesk = (hash: string) => open({ ...tallLaptop, ...signedIn }, `${site}desk#${hash}`)

  const list = await openDesk('/?status=all')
  await rows(list).first().waitFor()
  await take('desk', list)

  const small = await open({ ...phone, ...dark, ...signedIn }, `${site}desk`)
  await rows(small).nth(2).click()
  await small.getByRole('heading', { name: 'What happened' }).waitFor()
  await take('desk-phone', small)

  const application = await openDesk('/?status=waitlisted')
  await openWithReply(application)
  await take('application', application)

  const shortlist = await openDesk('/?status=shortlisted')
  for (const index of [0, 1, 3]) await shortlist.locator('tbody').getByRole('checkbox').nth(index).check()
  await take('selected', shortlist)
  await shortlist.getByRole('button', { name: 'Accept', exact: true }).click()
  await shortlist.getByRole('status').getByText('3 applications: Accepted').waitFor()

  const drafts = await openDesk('/letters/drafts/accepted')
  await drafts.locator('.drafts-draft').first().waitFor()
  await take('drafts', drafts)
  await drafts.getByRole('button', { name: /^Send/ }).click()
  await drafts.getByRole('dialog').getByRole('button', { name: /^Send/ }).click()
  await drafts.getByText('on the way').waitFor()

  const letters = await openDesk('/letters')
  await letters.getByRole('heading', { name: 'Drafts to send' }).waitFor()
  await take('letters', letters)

  const template = await openDesk('/letters/templates/accepted')
  await template.locator('.letters-letter').waitFor()
  await take('template', template)

  const places = await openDesk('/coming')
  await places.locator('.places-numbers').waitFor()
  await take('places', places)

  const door = await openDesk('/door')
  await door.getByRole('button', { name: 'Save' }).waitFor()
  await take('door', door)

  await takeRetreat(openDesk)

  await takeMarksAndVisits(openDesk)
  await takeJunk(site, openDesk)
}

/** Takes pictures of the answer page: of a person without an RSVP, and of a guest who is asked questions. */
async function takeAnswer(mailbox: string) {
  const mail = await open(phone, mailbox)
  const links = await mail
    .locator('a[href*="/answer/#"]')
    .evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).href))
  for (const link of links) {
    const page = await open(phone, link)
    await page.locator('#place[aria-busy=false]').waitFor()
    const coming = page.getByRole('button', { name: 'I am coming' })
    if (!(await coming.isVisible())) continue
    await take('answer', page)
    await coming.click()
    await page.locator('form').waitFor()
    return await take('answer-questions', page)
  }
  throw new Error('Everybody has answered.')
}

/** Takes a picture of the page with the settings that operate.md has as an example. */
async function takeLook() {
  const operate = await readFile(join('docs', 'operate.md'), 'utf8')
  const [, example] = /^```sh\n(SITE_TITLE=[^]*?)^```/m.exec(operate) ?? []
  if (example === undefined) throw new Error('operate.md has no example of SITE_TITLE.')
  const directory = await dataDirectory()
  const server = await startServer({ DATA_DIR: directory.path, ...parseEnv(example) })
  await take('look', await open(laptop, server.origin))
  await server.stop()
  await directory.remove()
}

try {
  const site = await demo.waitForValue('The page')
  const mailbox = await demo.waitForValue('Its emails')
  await takeForm(site)
  const signedIn = { storageState: await takeSignIn(`${site}desk`, mailbox) }
  await takeDesk(site, signedIn)
  await takeAnswer(mailbox)
  await takeLook()
} finally {
  await browser.close()
  await demo.end('SIGTERM')
}
console.log(`The pictures are in ${folder}/.`)
