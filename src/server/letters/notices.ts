import type { Message } from '../mail/compose.ts'
import type { MailTry } from './outcomes.ts'
import type { Sql } from '../database/sql.ts'

/** An email to an organiser that this server has claimed. */
export interface NoticeClaim extends MailTry {
  kind: 'notice' | 'test'
  to: string
  /** Its content: a test of a letter, or the applications and RSVPs that it reports. */
  says: Pick<Message, 'subject' | 'body'> | Report
}

/** The applications and RSVPs that a notice reports. */
interface Report {
  /** The application's id, where the email is about one application or RSVP; null for a daily email. */
  application: string | null
  /** The RSVP; null where the email is not about one. */
  answer: 'coming' | 'not coming' | null
  since: string | null
  /** New applications, counted up to 1,000. */
  count: number
  /**
   * The first of their names that are plain, or the name of the person who gave the RSVP; empty for an organiser who reads blind.
   */
  names: string[]
  /** In a daily email: how many people gave each RSVP. */
  coming: number
  notComing: number
}

const maxCounted = 1_000

/** Drops emails that are finished, or were not sent within a day. Writes the daily emails that are due. */
export async function tidyNotices(sql: Sql): Promise<void> {
  await sql`select private.keep_notices()`
}

/**
 * Composes the email to an organiser.
 *
 * @param site The public address.
 */
export function noticeMessage({ id, to, says }: NoticeClaim, site: URL): Message {
  const letter = { id, to }
  if ('body' in says) return { ...letter, ...says }
  const { application, answer, since, count, names, coming, notComing } = says
  const desk = `${site.origin}${site.pathname.replace(/\/+$/, '')}/desk`
  const ending = `You get these emails because you switched them on at the desk, under “Account”. There you can switch them off:\n${desk}#/account`
  if (application !== null) {
    const [who = ''] = names
    if (answer !== null) {
      const sentence = `${who === '' ? 'Somebody' : who} is ${answer}`
      return {
        ...letter,
        subject: sentence,
        body: `${sentence}, as they answered.\n\n${desk}#/applications/${application}\n\n${ending}`,
      }
    }
    return {
      ...letter,
      subject: who === '' ? 'A new application' : `New application: ${who}`,
      body: `${who === '' ? 'Somebody' : who} has applied.\n\n${desk}#/applications/${application}\n\n${ending}`,
    }
  }
  const rsvps = [
    ...(coming > 0 ? [`${coming.toLocaleString('en')} answered that they are coming`] : []),
    ...(notComing > 0 ? [`${notComing.toLocaleString('en')} answered that they are not coming`] : []),
  ].join(', ')
  const many = `${count === maxCounted ? 'At least ' : ''}${count.toLocaleString('en')} new ${count === 1 ? 'application' : 'applications'}`
  const moment = since && new Date(since).toISOString().replace('T', ' ').slice(0, 16)
  const others = count - names.length
  const list = [
    ...names.map((name) => `- ${name}`),
    ...(names.length > 0 && others > 0 ? [`and ${others.toLocaleString('en')} more`] : []),
  ]
  return {
    ...letter,
    subject: count > 0 ? many : 'New answers',
    body: [
      ...(count > 0 ? [`${many} since ${moment} UTC.`] : []),
      ...(list.length > 0 ? [list.join('\n')] : []),
      ...(rsvps === '' ? [] : [`${rsvps}${count > 0 ? '' : ` since ${moment} UTC`}.`]),
      desk,
      ending,
    ].join('\n\n'),
  }
}
