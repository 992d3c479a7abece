import type { Announcement } from '../../application/announcement.ts'
import type { Message } from '../mail/compose.ts'
import type { MailTry } from './outcomes.ts'
import type { Sql } from '../database/connection/sql.ts'

/** A claimed email to an organiser. */
export interface NoticeClaim extends MailTry {
  kind: 'notice' | 'test'
  to: string
  /** Its content: a test of a letter, or the applications and RSVPs that it reports. */
  says: Pick<Message, 'subject' | 'body'> | Report
}

/** The applications, RSVPs and erasures that a notice reports. */
interface Report {
  /** The application's id, if the email is about one application or RSVP; null for a daily email. */
  application: string | null
  /** The RSVP; null if the email is not about one. */
  answer: 'coming' | 'not coming' | null
  /** Only for a daily email: when the period that it reports began. */
  since: string | null
  /** In a daily email: new applications, counted up to 1,000. */
  count: number
  /**
   * Up to fifty names of applicants, or the name of the person who gave the RSVP. Names that look like a link or a message are
   * left out. Empty for blind readers.
   */
  names: string[]
  /** In a daily email: how many people gave each RSVP. */
  coming: number
  notComing: number
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
  const idAndRecipient = { id, to }
  if ('body' in says) return { ...idAndRecipient, ...says }
  const { application, answer, since, count, names, coming, notComing, erasing } = says
  const desk = `${site.origin}${site.pathname.replace(/\/+$/, '')}/desk`
  const ending = `You get these emails because you switched them on at the desk, under “Account”. There you can switch them off:\n${desk}#/account`
  if (application !== null) {
    const [name = ''] = names
    const person = name === '' ? 'Somebody' : name
    if (answer !== null) {
      return {
        ...idAndRecipient,
        subject: `${person} is ${answer}`,
        body: `${person} has answered: ${answer}.\n\n${desk}#/applications/${application}\n\n${ending}`,
      }
    }
    return {
      ...idAndRecipient,
      subject: name === '' ? 'A new application' : `New application: ${name}`,
      body: `${person} has applied.\n\n${desk}#/applications/${application}\n\n${ending}`,
    }
  }
  const rsvps = [
    ...(coming > 0 ? [`${coming.toLocaleString('en')} answered that they are coming`] : []),
    ...(notComing > 0 ? [`${notComing.toLocaleString('en')} answered that they are not coming`] : []),
  ].join(', ')
  const headline = `${count === maxCounted ? 'At least ' : ''}${count.toLocaleString('en')} new ${count === 1 ? 'application' : 'applications'}`
  const sinceText = since && new Date(since).toISOString().replace('T', ' ').slice(0, 16)
  const unnamed = count - names.length
  const list = [
    ...names.map((name) => `- ${name}`),
    ...(names.length > 0 && unnamed > 0 ? [`and ${unnamed.toLocaleString('en')} more`] : []),
  ]
  return {
    ...idAndRecipient,
    subject: count > 0 ? headline : rsvps === '' ? 'Applications will be erased' : 'New answers',
    body: [
      ...(count > 0 ? [`${headline} since ${sinceText} UTC.`] : []),
      ...(list.length > 0 ? [list.join('\n')] : []),
      ...(rsvps === '' ? [] : [`${rsvps}${count > 0 ? '' : ` since ${sinceText} UTC`}.`]),
      ...(erasing ? [erasingSentence(erasing, desk)] : []),
      desk,
      ending,
    ].join('\n\n'),
  }
}

function erasingSentence({ applications, from }: Announcement, desk: string) {
  const count = applications.toLocaleString('en')
  return `${count} ${applications === 1 ? 'application' : 'applications'} will be erased from ${from} on, as set here:\n${desk}#/retention`
}
