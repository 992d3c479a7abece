import { randomUUID } from 'node:crypto'

import type { Rsvp, Status } from '../src/application/statuses.ts'
import type { CallDesk } from '../src/client/desk.ts'
import type { MarkValue } from '../src/client/desk/marks.ts'
import { writeSite } from '../src/server/letters/site-for-letters.ts'
import { letterMessage } from '../src/server/letters/letter-message.ts'
import { defaultLook } from '../src/design/look.ts'
import { compose } from '../src/server/mail/compose.ts'
import { createMailConnection } from '../src/server/mail/handover.ts'
import { recordHeartbeat } from '../src/server/deliveries/record-result.ts'
import { record } from '../src/server/letters/outcomes.ts'
import type { MailServer } from '../src/settings/mail-settings.ts'
import type { ReceivedMail } from '../test/support/mail-server.ts'
import { claimLetter } from '../test/support/claimed-emails.ts'
import { randomFrom } from '../test/support/random.ts'
import { createClock } from './clock.ts'
import { openDesks } from './desks.ts'
import { markReasons, notes } from './notes.ts'
import { applicationCount } from './people.ts'
import {
  guestAnswers,
  guestQuestions,
  rsvps,
  applicationsUntil,
  closedDomain,
  day,
  minute,
  reviews,
  timeBefore,
  weeks,
} from './plan.ts'
import type { Sql } from '../src/server/database/connection/sql.ts'
import { valuesOf } from '../test/support/sql.ts'

/** The sender of all emails. `localhost` is no Internet domain, so the check of the sender asks no name server. */
export const sender: MailServer['from'] = { name: 'Unplugged.', address: 'hello@localhost' }

/** Returns the mail server's refusal of a recipient at the closed domain; undefined for everything else. */
export function refuseClosedDomain(
  step: string,
  address: string,
): { code: number; text: string } | undefined {
  if (step !== 'RCPT TO' || !address.endsWith(`@${closedDomain}`)) return undefined
  return { code: 550, text: `5.1.1 <${address}>: there is no such mailbox` }
}

/** The database to fill, and the mail server that receives the emails. */
interface FillOptions {
  /** A connection as the owner of an embedded database, which has the schema and no rows. */
  sql: Sql
  mail: { port: number; received: ReceivedMail[] }
  /** The address that the site will have. */
  site: string
  /** Aborts the filling. */
  signal?: AbortSignal
}

const seed = 41
const seats = 40

/** An application and its current status. */
interface StoredApplication {
  id: string
  at: Date
  email: string
  /** The status that the organisers will have decided by the end. */
  finalStatus: Status
  status: Status
  version: number
}

/**
 * Fills a database with six weeks of applications and of organisers' decisions. It calls the product's own functions, one
 * after another. Between the calls time passes: the clock moves the stored times back.
 */
export async function fill({ sql, mail, site, signal }: FillOptions): Promise<void> {
  const end = new Date()
  const mailServer = {
    host: '127.0.0.1',
    port: mail.port,
    secure: false,
    user: '',
    password: '',
    from: sender,
  }
  await writeSite(sql, { siteUrl: site, mailServer, look: {} })
  const random = randomFrom(seed)
  const allApplications = applicationsUntil(end, random)
  const stored: StoredApplication[] = []
  const desks = await openDesks(sql)
  const clock = await createClock(sql, new Date(end.getTime() - weeks * 7 * day))
  const planned: { at: Date; work: () => Promise<unknown> }[] = []
  const deskOf = (organiser: number): CallDesk => desks.calls[organiser % desks.calls.length] as CallDesk
  const plan = (at: Date, work: () => Promise<unknown>) => planned.push({ at, work })
  const nextNote = roundRobin(notes)

  /** Lets time pass, and stores the applications of that time. */
  const moveTimeTo = async (at: Date) => {
    const arriving = allApplications.filter((each) => each.at > clock.now() && each.at <= at)
    await clock.moveTo(at)
    const rows = arriving.map((each) => ({ ...each.application, created_at: each.at }))
    if (rows.length === 0) return
    const ids = await sql<{ id: string; email: string; created_at: Date }[]>`
      insert into public.retreat_applications ${valuesOf(rows)} returning id, email, created_at`
    for (const [index, { id, email }] of ids.entries()) {
      const { finalStatus = 'new', at: appliedAt = at } = arriving[index] ?? {}
      stored.push({ id, email, at: appliedAt, finalStatus, status: 'new', version: 0 })
    }
  }

  const decide = async (organiser: number, status: Status, applications: StoredApplication[]) => {
    const decisions = applications.map(({ id, version }) => ({ id, version, status }))
    for (const outcome of await deskOf(organiser)('desk_decide', { act: randomUUID(), decisions })) {
      const application = applications.find(({ id }) => id === outcome.id)
      if (application === undefined || outcome.outcome !== 'kept')
        throw new Error(`not kept: ${outcome.outcome}`)
      application.status = outcome.status
      application.version = outcome.version
    }
  }

  let markCount = 0
  const mark = (organiser: number, { id }: StoredApplication, value: MarkValue) => {
    const why = markReasons[value][markCount++ % markReasons[value].length] ?? ''
    return deskOf(organiser)('desk_mark', { act: randomUUID(), application: id, mark: value, why })
  }

  /** Two organisers mark an application, and disagree about one in three. */
  const markTogether = async (organiser: number, application: StoredApplication, index: number) => {
    const value = application.finalStatus === 'declined' ? 'no' : index % 4 === 2 ? 'maybe' : 'yes'
    await mark(organiser, application, value)
    await mark(organiser + 1, application, index % 3 === 2 ? (value === 'no' ? 'yes' : 'no') : value)
  }

  const note = async (organiser: number, { id }: StoredApplication) => {
    const [first, reply] = nextNote()
    await deskOf(organiser)('desk_note', { act: randomUUID(), application: id, note: first })
    if (reply === undefined) return
    plan(new Date(clock.now().getTime() + 9 * 60 * minute * (1 + random())), () =>
      deskOf(organiser + 1)('desk_note', { act: randomUUID(), application: id, note: reply }),
    )
  }

  /** Releases the drafts of an occasion that quote no blank form answer. Returns the applications whose drafts it released. */
  const release = async (organiser: number, occasion: string, maxCount = 1_000) => {
    await recordHeartbeat(sql, 'mail sender')
    const { letters } = await deskOf(organiser)('desk_drafts', { occasion, after: null })
    const ready = letters.filter(({ missing }) => missing.length === 0).slice(0, maxCount)
    const drafts = ready.map(({ id, seen }) => ({ id, seen }))
    await deskOf(organiser)('desk_release', {
      act: randomUUID(),
      letters: drafts,
      number: drafts.length,
      again: false,
    })
    return ready.map(({ application }) => application)
  }

  /** Sends the letters that are due. */
  const sendDueLetters = async () => {
    const receivedBefore = mail.received.length
    const connection = createMailConnection(mailServer)
    for (;;) {
      const letter = await claimLetter(sql)
      if (letter === undefined) break
      const dated = { ...letter, body: clock.withDemoDates(letter.body) }
      const handover = await connection.handOver(
        await compose(letterMessage(dated, defaultLook.title), sender, defaultLook),
      )
      if (handover.result === 'unavailable' || handover.result === 'aborted') throw new Error(handover.result)
      await record(sql, letter, handover)
    }
    await connection.close()
    for (const each of mail.received.slice(receivedBefore)) each.at = clock.now()
  }

  const giveRsvp = (application: string, rsvp: Rsvp) => sql`
    select public.answer_place(token::text, ${rsvp}, ${randomUUID()}) from private.invitations
    where application_id = ${application} and told_at is not null`

  /** Answers the questions to guests, if the person is coming. */
  const giveAnswers = async (application: string, given: readonly string[]) => {
    const { questions } = await deskOf(0)('desk_questions', {})
    const answers = Object.fromEntries(questions.map(({ id }, index) => [id, given[index] ?? '']))
    await sql`
      select public.answer_questions(token::text, ${JSON.stringify(answers)}::text::jsonb, ${randomUUID()})
      from private.invitations where application_id = ${application} and told_at is not null`
  }

  let acceptedCount = 0
  const releaseDecisions = async (organiser: number) => {
    const accepted = await release(organiser, 'accepted')
    await release(organiser, 'waitlisted')
    await release(organiser, 'declined')
    await moveTimeTo(new Date(clock.now().getTime() + 3 * minute))
    await sendDueLetters()
    for (const application of accepted) {
      const rsvp = rsvps[acceptedCount % rsvps.length]
      acceptedCount += 1
      const delay = (0.1 + 7 * random()) * day
      const rsvpAt = clock.now().getTime() + delay
      if (rsvp !== undefined) plan(new Date(rsvpAt), () => giveRsvp(application, rsvp))
      const given = guestAnswers[acceptedCount % guestAnswers.length]
      if (rsvp === 'coming' && given !== undefined)
        plan(new Date(rsvpAt + 2 * minute), () => giveAnswers(application, given))
      // One accepted person changes their RSVP later.
      if (acceptedCount === 4)
        plan(new Date(clock.now().getTime() + 6 * day), () => giveRsvp(application, 'not coming'))
    }
  }

  const decideShortlisted = async (organiser: number) => {
    const shortlist = stored.filter(({ status }) => status === 'shortlisted')
    for (const status of ['accepted', 'waitlisted'] as const) {
      const chosen = shortlist.filter(({ finalStatus }) => finalStatus === status)
      await decide(organiser, status, chosen)
    }
  }

  const runReview = async ({ by: organiser, decides, reminds }: (typeof reviews)[number]) => {
    const unread = stored.filter(({ status, finalStatus }) => status === 'new' && finalStatus !== 'new')
    const declined = unread.filter(({ finalStatus }) => finalStatus === 'declined')
    const promising = unread.filter(({ finalStatus }) => finalStatus !== 'declined')
    for (const [index, application] of [...promising, ...declined].entries()) {
      if (index % 2 === 0) await markTogether(organiser, application, index)
    }
    await decide(organiser, 'declined', declined)
    await decide(organiser, 'shortlisted', promising)
    for (const [index, application] of [...promising, ...declined].entries()) {
      if (index % 4 === 1) await note(organiser + index, application)
    }
    if (decides) {
      await decideShortlisted(organiser)
      await releaseDecisions(organiser)
    }
    if (reminds) {
      await deskOf(organiser)('desk_remind', { act: randomUUID() })
      await release(organiser, 'reminder')
      await moveTimeTo(new Date(clock.now().getTime() + 3 * minute))
      await sendDueLetters()
    }
  }

  plan(new Date(clock.now().getTime() + 5 * minute), () => setUp(deskOf(0), end))
  for (const review of reviews) plan(timeBefore(end, review.days, review.hour), () => runReview(review))
  // The visitor can read the drafts that these decisions make. Only three drafts are released, at the end.
  plan(new Date(end.getTime() - 95 * minute), () => decideShortlisted(0))

  for (;;) {
    const [next] = planned.toSorted((a, b) => a.at.getTime() - b.at.getTime())
    if (next === undefined || next.at > end) break
    signal?.throwIfAborted()
    planned.splice(planned.indexOf(next), 1)
    if (next.at > clock.now()) await moveTimeTo(next.at)
    await next.work()
  }
  await moveTimeTo(end)
  if (stored.length !== applicationCount) throw new Error(`${stored.length} applied`)

  // The visitor has marked a few of the new applications. Others have only a colleague's mark, which is hidden from the visitor.
  for (const [index, application] of stored.filter(({ status }) => status === 'new').entries()) {
    if (index % 5 === 0) await markTogether(0, application, index)
    else if (index % 2 === 0) await mark(1, application, index % 4 === 0 ? 'yes' : 'maybe')
  }
  await prepareForVisitor(sql, deskOf(0), stored)
  await countVisits(sql)
  await release(0, 'waitlisted', 3)
  await desks.close()
}

/** Stores the visits to the page: more on days with more applications, and a third of them through links that name a source. */
async function countVisits(sql: Sql) {
  await sql`
    insert into private.visits (day, source, visits, starts)
    select day, source, ceil(count * visits), floor(count * starts)
    from (
      select (created_at at time zone coalesce(zone, 'UTC'))::date as day, count(*) as count
      from public.retreat_applications cross join private.places group by 1
    ) as days
      cross join (values ('', 9.6, 1.7), ('newsletter', 2.3, 0), ('linkedin', 1.9, 0), ('alumni', 0.6, 0))
        as sources (source, visits, starts)`
}

/** Adds a draft for one person and a later deadline for another, and turns on receipts, confirmations and notices. */
async function prepareForVisitor(sql: Sql, desk: CallDesk, stored: StoredApplication[]) {
  const shortlisted = stored.find(({ status }) => status === 'shortlisted')
  if (shortlisted !== undefined) {
    const [{ first_name: name }] = await sql<[{ first_name: string }]>`
      select first_name from public.retreat_applications where id = ${shortlisted.id}`
    await desk('desk_write_to', {
      act: randomUUID(),
      application: shortlisted.id,
      subject: 'A question before we decide',
      body: `Hello ${name},\n\nwould you also come for the second week alone?\n\nInes`,
    })
  }
  const [overdue] = await sql<[{ application_id: string; until: string }?]>`
    select application_id, (private.today() + 3)::text as until from private.invitations
    where is_accepted and rsvp is null and deadline < private.today() order by told_at desc limit 1`
  if (overdue !== undefined) {
    await desk('desk_keep_until', {
      act: randomUUID(),
      application: overdue.application_id,
      until: overdue.until,
    })
  }
  const { settings } = await desk('desk_letters', {})
  await desk('desk_set_letters', {
    version: settings.version,
    reply_to: settings.reply_to,
    receipts: true,
    confirmations: true,
  })
  await desk('desk_set_notices', { notices: 'each' })
}

/** Saves the settings that organisers choose before anybody applies. */
async function setUp(desk: CallDesk, end: Date) {
  const { version, zone } = await desk('desk_places', {})
  await desk('desk_set_places', { version, places: seats, days: 10, zone })
  // Four days from a Friday on, in four months.
  const inFourMonths = new Date(end.getTime() + 120 * day)
  const friday = new Date(inFourMonths.getTime() + ((12 - inFourMonths.getUTCDay()) % 7) * day)
  const dateOf = (moment: Date) => moment.toISOString().slice(0, 10)
  await desk('desk_set_retreat', {
    version: 0,
    starts_on: dateOf(friday),
    ends_on: dateOf(new Date(friday.getTime() + 3 * day)),
    venue: 'Hof Sonnenau, Seeberg',
  })
  const { version: questionsVersion } = await desk('desk_questions', {})
  await desk('desk_set_questions', {
    version: questionsVersion,
    questions: guestQuestions,
    until: null,
    private_days: 30,
  })
  const door = await desk('desk_door', {})
  await desk('desk_set_door', {
    version: door.version,
    closed: false,
    sentence: 'We have all the applications that we can read. Come back next spring.',
    closes_at: timeBefore(end, -12, 18).toISOString(),
    closes_after: null,
  })
}

/** Returns a function that returns the items one after another, and begins with the first again after the last. */
function roundRobin<Item>(items: readonly Item[]) {
  let next = 0
  return () => items[next++ % items.length] as Item
}
