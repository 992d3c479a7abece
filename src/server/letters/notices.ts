import type { Announcement } from '../../application/announcement.ts'
import { organiserChangeWords, type OrganiserChange } from '../../application/organiser-change.ts'
import type { Message } from '../mail/compose.ts'
import { plainText, type Paragraph } from '../mail/paragraphs.ts'
import type { MailTry } from './outcomes.ts'
import type { Sql } from '../database/connection/sql.ts'

/** A claimed email to an organiser. */
export interface NoticeClaim extends MailTry {
  kind: 'notice' | 'test'
  to: string
  /** Its content: a test of a letter, or the applications, RSVPs and withdrawals that it reports. */
  says: Pick<Message, 'subject' | 'body'> | Report
}

/** The applications, RSVPs, withdrawals and erasures that a notice reports. */
interface Report {
  /** The application's id, if the email is about one application, RSVP or withdrawal; null for a daily email. */
  application: string | null
  /** The RSVP; null if the email is not about one. */
  answer: 'coming' | 'not coming' | null
  /** The change of an organiser, and who made it; null if the email is not about one. */
  organiser: (OrganiserChange & { author: string }) | null
  /** Whether the application was withdrawn, or that was taken back; null if the email is not about a withdrawal. */
  isWithdrawn: boolean | null
  /** Only for a daily email: when the period that it reports began. */
  since: string | null
  /** In a daily email: new applications, counted up to 1,000. */
  count: number
  /**
   * Up to fifty names of applicants, or the name of the person who gave the RSVP or withdrew. Names that look like a link or a message are
   * left out. Empty for blind readers.
   */
  names: string[]
  /** In a daily email: how many people gave each RSVP. */
  coming: number
  notComing: number
  /** In a daily email: how many applications were withdrawn. */
  withdrawn: number
  /** Applications that will be erased; null if there are none. */
  erasing: Announcement | null
}

/** The number at which the database stops counting new applications. */
const maxCounted = 1_000

/** Deletes old notices and tests, and writes the daily emails that are due. */
export async function tidyNotices(sql: Sql): Promise<void> {
  await sql`select private.tidy_notices()`
}

/**
 * Composes the email to an organiser.
 *
 * @param site The public address.
 */
export function noticeMessage({ id, to, says }: NoticeClaim, site: URL): Message {
  const base = `${site.origin}${site.pathname.replace(/\/+$/, '')}`
  if ('body' in says) {
    const why = { text: 'You receive this email because you asked for it at the desk, to test a letter.' }
    const receiptLink = `${base}/withdraw/#example`
    const link = says.body.includes(receiptLink)
      ? { link: receiptLink, button: null }
      : { link: `${base}/answer/#example` }
    return { id, to, ...says, ...link, why }
  }
  const desk = `${base}/desk`
  const { subject, paragraphs } = contentOf(says, desk)
  if (says.organiser) {
    const why = { text: 'You get this email because you may do everything at the desk.' }
    return { id, to, subject, body: plainText([...paragraphs, why]), paragraphs, why }
  }
  const why = {
    text: 'You get these emails because you switched them on at the desk, under “Account”. There you can switch them off:',
    link: `${desk}#/account`,
  }
  return { id, to, subject, body: plainText([...paragraphs, why]), paragraphs, why }
}

function contentOf(report: Report, desk: string): { subject: string; paragraphs: Paragraph[] } {
  const { application, answer, organiser, isWithdrawn, since, count, names, erasing } = report
  const { coming, notComing, withdrawn } = report
  if (organiser) {
    const words = organiserChangeWords(organiser)
    return {
      subject: `Organisers: ${words}`,
      paragraphs: [
        { text: `${words}. This was done by ${organiser.author}. If it is wrong, undo it there:` },
        { link: `${desk}#/account`, button: 'Open the account' },
      ],
    }
  }
  if (application !== null) {
    const [name = ''] = names
    const person = name === '' ? 'Somebody' : name
    const link = { link: `${desk}#/applications/${application}`, button: 'Open the application' }
    if (answer !== null) {
      return {
        subject: `${person} is ${answer}`,
        paragraphs: [{ text: `${person} has answered: ${answer}.` }, link],
      }
    }
    if (isWithdrawn !== null) {
      const act = isWithdrawn ? 'has withdrawn the application' : 'has restored the withdrawn application'
      return { subject: `${person} ${act}`, paragraphs: [{ text: `${person} ${act}.` }, link] }
    }
    return {
      subject: name === '' ? 'A new application' : `New application: ${name}`,
      paragraphs: [{ text: `${person} has applied.` }, link],
    }
  }
  const events = [
    ...(coming > 0 ? [`${coming.toLocaleString('en')} answered that they are coming`] : []),
    ...(notComing > 0 ? [`${notComing.toLocaleString('en')} answered that they are not coming`] : []),
    ...(withdrawn > 0
      ? [
          `${withdrawn.toLocaleString('en')} ${withdrawn === 1 ? 'application was' : 'applications were'} withdrawn`,
        ]
      : []),
  ].join(', ')
  const headline = `${count === maxCounted ? 'At least ' : ''}${count.toLocaleString('en')} new ${count === 1 ? 'application' : 'applications'}`
  const sinceText = since && new Date(since).toISOString().replace('T', ' ').slice(0, 16)
  const unnamed = count - names.length
  const list = [
    ...names.map((name) => `- ${name}`),
    ...(names.length > 0 && unnamed > 0 ? [`and ${unnamed.toLocaleString('en')} more`] : []),
  ]
  return {
    subject:
      count > 0
        ? headline
        : events === ''
          ? 'Applications will be erased'
          : coming + notComing > 0
            ? 'New answers'
            : 'Withdrawn applications',
    paragraphs: [
      ...(count > 0 ? [{ text: `${headline} since ${sinceText} UTC.` }] : []),
      ...(list.length > 0 ? [{ text: list.join('\n') }] : []),
      ...(events === '' ? [] : [{ text: `${events}${count > 0 ? '' : ` since ${sinceText} UTC`}.` }]),
      ...(erasing ? [erasingParagraph(erasing, desk)] : []),
      { link: desk, button: 'Open the desk' },
    ],
  }
}

function erasingParagraph({ applications, from }: Announcement, desk: string): Paragraph {
  const count = applications.toLocaleString('en')
  return {
    text: `${count} ${applications === 1 ? 'application' : 'applications'} will be erased from ${from} on, as set here:`,
    link: `${desk}#/retention`,
  }
}
