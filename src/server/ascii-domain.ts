import { domainToASCII } from 'node:url'

/**
 * The ASCII form of a domain (RFC 5890), empty if it has none. What is ASCII stays unchanged: `domainToASCII` would also change what
 * looks like the number of an IP address.
 */
export const asciiDomain = (domain: string): string =>
  /[\u0080-\uffff]/.test(domain) ? domainToASCII(domain) : domain
