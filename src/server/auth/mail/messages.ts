import { randomUUID } from 'node:crypto'

import type { Message } from '../../mail/compose.ts'
import { withFullStop } from '../../../design/look.ts'
import { plainText, type Paragraph } from '../../mail/paragraphs.ts'

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

/** The words of the button that leads to the link. */
const buttons: Record<Occasion, string> = {
  magiclink: 'Sign in',
  recovery: 'Set a new password',
  email_change: 'Confirm the address',
  reauthentication: '',
}

/**
 * The email with a code, a link, or both. In HTML, the code comes first, and what happens is in the last lines.
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
    const closing =
      code === undefined ? closings[occasion] : `${closings[occasion]} Do not share the code with anybody.`
    const details =
      change &&
      `The address would change from ${change.from} to ${change.to}, once both addresses have confirmed it.`
    const limit = 'works once, within 10 minutes.'
    const codeName = occasion === 'reauthentication' ? 'verification code' : `code for ${siteTitle}`
    const linkLabel =
      code === undefined ? 'Open this link, once, within 10 minutes:' : 'Or open this link, once:'
    const links = link === undefined ? [] : [{ text: linkLabel, link, button: buttons[occasion] }]
    const tooMany = {
      text: 'Too many wrong codes were tried, so emails to you have no code until you have signed in.',
    }
    return {
      id: randomUUID(),
      to,
      subject: code === undefined ? `Your link for ${siteTitle}` : `${code} is your ${codeName}`,
      body: `${plainText([
        { text: details === undefined ? opening : `${opening} ${details}` },
        code === undefined ? tooMany : { text: `Your code is ${code}. It ${limit}` },
        ...links,
        { text: closing },
      ])}\n`,
      paragraphs: [
        ...(details === undefined ? [] : [{ text: details }]),
        code === undefined ? tooMany : { code, text: `The code ${limit}` },
        ...links,
      ],
      why: { text: `${opening} ${closing}` },
    }
  }
}

/**
 * The email that invites somebody to be an organiser.
 *
 * @param by The organiser who invites.
 * @param right What the invited person may do, after “may”.
 */
export function invitationMessage(to: string, by: string, right: string, link: string): SignInEmail {
  return (siteTitle) => {
    const paragraphs: Paragraph[] = [
      { text: `${by} invites you to the desk of ${withFullStop(siteTitle)} There you may ${right}.` },
      { text: 'Open this link, once, within a day:', link, button: 'Sign in' },
      { text: 'Later you sign in at the same address, with your email.' },
    ]
    return {
      id: randomUUID(),
      to,
      subject: `An invitation to the desk of ${siteTitle}`,
      body: `${plainText(paragraphs)}\n`,
      paragraphs,
      why: { text: 'If you do not know the sender, ignore this email: nobody gets in without it.' },
    }
  }
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
  const paragraphs: Paragraph[] = [
    { text: sentence },
    { text: 'If it was not you, tell the person who runs the site at once, and sign out everywhere.' },
  ]
  return (siteTitle) => ({
    id: randomUUID(),
    to,
    subject: `Your account for ${siteTitle} was changed`,
    body: `${plainText(paragraphs)}\n`,
    paragraphs,
    why: { text: `You receive this email because you have an account for ${withFullStop(siteTitle)}` },
  })
}
