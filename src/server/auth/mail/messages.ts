import { randomUUID } from 'node:crypto'

import { escapeHtml, type Message } from '../../mail/compose.ts'

/** The reason for an email. */
export type Occasion = 'magiclink' | 'recovery' | 'email_change' | 'reauthentication'

/** An email about the sign-in, which is composed with the page's title. */
export type SignInEmail = (siteTitle: string) => Message

const openings: Record<Occasion, (siteTitle: string) => string> = {
  magiclink: (title) => `Somebody, probably you, wants to sign in to ${title} with this address.`,
  recovery: (title) => `Somebody, probably you, wants to set a new password for ${withFullStop(title)}`,
  email_change: (title) => `Somebody, probably you, wants to use another address for ${withFullStop(title)}`,
  reauthentication: (title) => `Somebody who is signed in to ${title} as you wants to change your password.`,
}

const closings: Record<Occasion, string> = {
  magiclink: 'If it was not you, ignore this email: nobody gets in without it.',
  recovery: 'If it was not you, ignore this email: nothing changes without it.',
  email_change: 'If it was not you, ignore this email: nothing changes without it.',
  reauthentication: 'If it was not you, sign out everywhere.',
}

/**
 * The email with a code, a link, or both.
 *
 * @param change The old and the new address, for a change of address.
 */
export function message(
  occasion: Occasion,
  {
    to,
    code,
    link,
    change,
  }: { to: string; code?: string | undefined; link?: string; change?: { from: string; to: string } },
): SignInEmail {
  return (siteTitle) => {
    const opening = openings[occasion](siteTitle)
    const about =
      change === undefined
        ? opening
        : `${opening} The address would change from ${change.from} to ${change.to}, once both addresses have confirmed it.`
    if (code === undefined) {
      return mail(to, `Your link for ${siteTitle}`, [
        about,
        'Too many wrong codes were tried, so emails to you have no code until you have signed in.',
        { label: 'Open this link, once, within 10 minutes', link: link ?? '' },
        closings[occasion],
      ])
    }
    const codeName = occasion === 'reauthentication' ? 'verification code' : `code for ${siteTitle}`
    return mail(to, `${code} is your ${codeName}`, [
      about,
      `Your code is ${code}. It works once, within 10 minutes.`,
      ...(link === undefined ? [] : [{ label: 'Or open this link, once', link }]),
      `${closings[occasion]} Do not share the code with anybody.`,
    ])
  }
}

/** The title as the end of a sentence: with a full stop, unless it ends with punctuation. */
function withFullStop(title: string) {
  return /\p{P}$/u.test(title) ? title : `${title}.`
}

/** A change of an account that an email reports to its owner. */
export type Change = 'password' | 'factor on' | 'factor off' | { newEmail: string }

/**
 * The email that reports a change of an account, since somebody else may have made the change.
 *
 * @param to The account's address before the change.
 */
export function changeMessage(to: string, change: Change): SignInEmail {
  const sentence =
    typeof change === 'object'
      ? `The address of your account is ${change.newEmail} from now on.`
      : {
          password: 'Your account has a new password.',
          'factor on': 'Your account has a second factor from now on.',
          'factor off': 'A second factor was removed from your account.',
        }[change]
  return (siteTitle) =>
    mail(to, `Your account for ${siteTitle} was changed`, [
      sentence,
      'If it was not you, tell the person who runs the site at once, and sign out everywhere.',
    ])
}

/** A paragraph of an email: text, or a link. */
type Paragraph = string | { label: string; link: string }

function mail(to: string, subject: string, paragraphs: Paragraph[]): Message {
  const text = paragraphs.map((each) => (typeof each === 'string' ? each : `${each.label}:\n${each.link}`))
  const html = paragraphs.map((each) =>
    typeof each === 'string'
      ? escapeHtml(each)
      : `<a href="${escapeHtml(each.link)}">${escapeHtml(each.label)}</a>`,
  )
  return {
    id: randomUUID(),
    to,
    subject,
    body: `${text.join('\n\n')}\n`,
    html: `<!doctype html>\n<html lang="en">\n<body>\n${html.map((each) => `<p dir="auto">${each}</p>\n`).join('')}</body>\n</html>\n`,
  }
}
