import type { Letter } from '../../../client/desk/letters.ts'

/**
 * Misspellings of providers, by the name that was meant. Only those are here at which nobody has a mailbox on purpose: `email.com`
 * and `ymail.com` are one key from `gmail.com`, and exist. So this is a list and no distance between words.
 */
const misspellings: Record<string, string> = {
  gmail: 'gmial gmai gmal gamil gmaill gmil gnail gmali gmaol gmqil ggmail gmaik',
  googlemail: 'googelmail goglemail googlemial',
  hotmail: 'hotmial hotmai hotmal hotmil hotamil hotnail hotmaill homtail hotmali htomail',
  icloud: 'iclod icoud iclould icluod icloude',
  outlook: 'outlok oulook outllok outloook otulook outlokk',
  yahoo: 'yaho yahooo yhaoo yhoo yahho yaoho',
}

/** Endings that are no top-level domains, by the one that was meant. */
const endings: Record<string, string> = {
  com: 'con cmo ocm comm coom cpm vom xom',
  net: 'nte nett',
  org: 'ogr orgg',
}

/** The email that was surely meant; undefined if the email is not surely mistyped. */
export function meantEmail(email: string): string | undefined {
  const [, local, host, ending] = /^(.+@)(.+)\.([a-z]+)$/i.exec(email) ?? []
  if (local === undefined || host === undefined || ending === undefined) return undefined
  const meantEnding = meantBy(endings, ending) ?? ending
  // Only with `.com`: in another country such a name may be somebody's own.
  const meantHost = (meantEnding === 'com' && meantBy(misspellings, host)) || host
  return meantHost === host && meantEnding === ending ? undefined : `${local}${meantHost}.${meantEnding}`
}

/** Whether an email is surely mistyped. A name without a dot is not in the public domain name system. */
export function isMistypedEmail(email: string): boolean {
  return meantEmail(email) !== undefined || /@[^.]*$/.test(email)
}

/** Whether the address of a letter is surely mistyped, so that the letter does not reach the applicant. */
export function isMistyped({ to }: Pick<Letter, 'to'>): boolean {
  return to !== null && isMistypedEmail(to)
}

function meantBy(typos: Record<string, string>, typed: string) {
  return Object.keys(typos).find((meant) => typos[meant]?.split(' ').includes(typed.toLowerCase()))
}
