import { Resolver } from 'node:dns/promises'
import { domainToASCII } from 'node:url'

import { notKnown, ok, wrong, type Finding } from '../finding.ts'

/** The DNS queries that the check makes. */
export type DnsResolver = Pick<Resolver, 'resolveMx' | 'resolve4' | 'resolve6' | 'resolveTxt'>

/** The timeout of a DNS query in milliseconds, and the number of tries. */
const dnsOptions = { timeout: 2_000, tries: 2 }

/**
 * Checks the records of the sender's domain that other mail servers look up. MX names the servers that receive replies, SPF the
 * servers that may send, and DMARC says what happens to forged emails.
 *
 * @param address The sender's address.
 * @param resolver The name servers; default the machine's.
 * @see https://www.rfc-editor.org/rfc/rfc5321#section-5 for MX; RFC 7208 for SPF; RFC 7489 for DMARC. DMARC records of parent
 *   domains are looked up one by one.
 */
export async function checkSender(
  address: string,
  resolver: DnsResolver = new Resolver(dnsOptions),
): Promise<Omit<Finding, 'about'>> {
  const host = address.slice(address.lastIndexOf('@') + 1)
  const domain = domainToASCII(host)
  if (!domain.includes('.')) return notKnown(`MAIL_FROM is at ${host}, which is not an Internet domain.`)
  try {
    const [mx, spf, dmarc] = await Promise.all([
      mxProblem(domain, resolver),
      spfProblem(domain, resolver),
      dmarcProblem(domain, resolver),
    ])
    const problems = [mx, spf, dmarc].filter((problem) => problem !== undefined)
    if (problems.length === 0) return ok(`${domain} has MX, SPF and DMARC.`)
    return wrong(problems.join(' '))
  } catch (error) {
    if (error instanceof NoSuchName) {
      return wrong(
        `MAIL_FROM is at ${domain}, a domain that does not exist: many mail servers refuse its emails.`,
      )
    }
    if (error instanceof DnsFailure)
      return notKnown(`The name servers did not answer for ${domain} (${error.message}).`)
    throw error
  }
}

class NoSuchName extends Error {}
class DnsFailure extends Error {}

/** The records of a DNS query; empty if the name exists without records of this type. */
async function recordsOf<Record>(query: Promise<Record[]>): Promise<Record[] | 'no such name'> {
  try {
    return await query
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (code === 'ENODATA') return []
    if (code === 'ENOTFOUND') return 'no such name'
    if (code.startsWith('E')) throw new DnsFailure(code, { cause: error })
    throw error
  }
}

async function mxProblem(domain: string, resolver: DnsResolver) {
  const mx = await recordsOf(resolver.resolveMx(domain))
  if (mx === 'no such name') throw new NoSuchName()
  if (mx.some(({ exchange }) => exchange === '' || exchange === '.')) {
    return `${domain} says that it accepts no emails (MX), so replies and bounces reach nobody, and some mail servers refuse its emails.`
  }
  if (mx.length > 0) return undefined
  // Without an MX record, the domain's own address receives emails.
  const ownAddresses = await Promise.all([
    recordsOf(resolver.resolve4(domain)),
    recordsOf(resolver.resolve6(domain)),
  ])
  return ownAddresses.some((addresses) => addresses !== 'no such name' && addresses.length > 0)
    ? undefined
    : `${domain} has no MX, so replies and bounces reach nobody: add one.`
}

/** The TXT records of a name that match a pattern. */
async function textRecords(name: string, pattern: RegExp, resolver: DnsResolver) {
  const records = await recordsOf(resolver.resolveTxt(name))
  return records === 'no such name'
    ? []
    : records.map((parts) => parts.join('')).filter((text) => pattern.test(text))
}

async function spfProblem(domain: string, resolver: DnsResolver) {
  const spf = await textRecords(domain, /^v=spf1( |$)/i, resolver)
  if (spf.length > 1) return `${domain} has ${spf.length} SPF records, which counts as none: keep only one.`
  if (spf.length === 0) {
    return `${domain} has no SPF, so its emails may count as spam: add a TXT record, such as "v=spf1 include:<your mail server's> -all".`
  }
  return /\s\+?all(\s|$)/i.test(spf[0] ?? '')
    ? `The SPF of ${domain} allows every server to send for it (+all): use -all.`
    : undefined
}

/** The maximum number of names that are queried: the domain and its parents. */
const maxNames = 5

async function dmarcProblem(domain: string, resolver: DnsResolver) {
  const labels = domain.split('.')
  // The parents do not include the top-level domain. Of many parents, the ones nearest to it are queried.
  const parents = labels
    .map((_label, index) => labels.slice(index).join('.'))
    .slice(1, -1)
    .slice(-(maxNames - 1))
  for (const name of [domain, ...parents]) {
    const dmarc = await textRecords(`_dmarc.${name}`, /^v=DMARC1\s*(;|$)/i, resolver)
    if (dmarc.length === 1) return undefined
    if (dmarc.length > 1)
      return `_dmarc.${name} has ${dmarc.length} DMARC records, which counts as none: keep only one.`
  }
  return `${domain} has no DMARC, which large providers ask for: have a TXT record made at _dmarc.${domain}, such as "v=DMARC1; p=none".`
}
