import { escapeHtml } from '../../mail/html.ts'

/** A mail, in plain words. */
export interface Message {
  to: string
  subject: string
  text: string
  html: string
}

/** What somebody asked for. */
export type Occasion = 'magiclink' | 'recovery' | 'email_change' | 'reauthentication'

const first: Record<Occasion, string> = {
  magiclink: 'Somebody, probably you, wants to sign in to Unplugged. with this address.',
  recovery: 'Somebody, probably you, wants to set a new password for Unplugged.',
  email_change: 'Somebody, probably you, wants to use another address for Unplugged.',
  reauthentication: 'Somebody who is signed in to Unplugged. as you wants to change your password.',
}

const last: Record<Occasion, string> = {
  magiclink: 'If it was not you, ignore this mail: nobody gets in without it. Tell the code to nobody.',
  recovery: 'If it was not you, ignore this mail: nothing changes without it. Tell the code to nobody.',
  email_change: 'If it was not you, ignore this mail: nothing changes without it. Tell the code to nobody.',
  reauthentication: 'If it was not you, sign out everywhere. Tell the code to nobody.',
}

/**
 * The mail with a code and a link.
 *
 * @param link None where there is only a code.
 * @param change The old and the new address, where they are what this is about.
 */
export function message(
  occasion: Occasion,
  {
    to,
    code,
    link,
    change,
  }: { to: string; code: string; link?: string; change?: { from: string; to: string } },
): Message {
  const about =
    change === undefined
      ? first[occasion]
      : `${first[occasion]} The address would change from ${change.from} to ${change.to}, once both have confirmed it.`
  const lines = [about, `Your code is ${code}. It works once, within 10 minutes.`]
  const before = lines.map((line) => `<p>${escapeHtml(line)}</p>`).join('\n')
  const linked =
    link === undefined ? '' : `\n<p>Or <a href="${escapeHtml(link)}">open this link</a>, once.</p>`
  return {
    to,
    subject: `${code} is your ${occasion === 'reauthentication' ? 'verification code' : 'code for Unplugged.'}`,
    text: [...lines, ...(link === undefined ? [] : [`Or open this link, once:\n${link}`]), last[occasion]]
      .join('\n\n')
      .concat('\n'),
    html: `<!doctype html>\n<html lang="en">\n<body>\n${before}${linked}\n<p>${escapeHtml(last[occasion])}</p>\n</body>\n</html>\n`,
  }
}
