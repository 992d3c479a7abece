import { expect, test } from 'vitest'

import { deskLink, issuerOf, mailLink, redirectTarget } from './links.ts'

const site = new URL('https://example.org/retreat')
const desk = 'https://example.org/retreat/desk'

test.each([
  'https://example.org/retreat/desk',
  'https://example.org/retreat/desk/list?of=all#top',
  'https://example.org/retreat/../retreat/desk',
  'HTTPS://EXAMPLE.ORG/retreat/desk',
  'https://example.org:443/retreat/desk',
])('a link redirects to %s', (given) => {
  expect(redirectTarget(given, site).href).toBe(new URL(given).href)
})

// break: link-leads-anywhere
test.each([
  ['no target', undefined],
  ['a text that is not an address', 'desk'],
  ['an empty target', ''],
  ['another host', 'https://example.com/retreat/desk'],
  ['a host that begins with ours', 'https://example.org.example.com/retreat/desk'],
  ['a host that ends with ours', 'https://notexample.org/retreat/desk'],
  ['a subdomain of our host', 'https://www.example.org/retreat/desk'],
  ['our host with a full stop', 'https://example.org./retreat/desk'],
  ['another port', 'https://example.org:8443/retreat/desk'],
  ['our host without encryption', 'http://example.org/retreat/desk'],
  ['no scheme', '//example.com/retreat/desk'],
  ['a backslash', 'https:\\\\example.com\\retreat\\desk'],
  ['a script', 'javascript:alert(1)//https://example.org/retreat/desk'],
  ['a data address', 'data:text/html,https://example.org/retreat/desk'],
  ['an address without an origin', 'null:https://example.org/retreat/desk'],
  ['a user that looks like the host', 'https://example.org@example.com/retreat/desk'],
  ['a user that looks like our host and path', 'https://example.org%2Fretreat@example.com/desk'],
  ['a user at our host', 'https://somebody@example.org/retreat/desk'],
  ['a user at our host that looks like the host', 'https://example.org@example.org/retreat/desk'],
  ['a password at our host', 'https://example.org:secret@example.org/retreat/desk'],
  ['a user at this machine', 'http://localhost:80@localhost/desk'],
  ['a path above', 'https://example.org/'],
  ['a sibling path', 'https://example.org/other'],
  ['a path that begins with ours', 'https://example.org/retreats/desk'],
  ['dots that lead out', 'https://example.org/retreat/../other'],
  ['encoded dots that lead out', 'https://example.org/retreat/%2e%2e/other'],
  ['half encoded dots that lead out', 'https://example.org/retreat/.%2E/other'],
  ['backslashes that lead out', 'https://example.org/retreat\\..\\other'],
  ['an encoded slash that leads out', 'https://example.org/retreat/..%2Fother'],
  ['an encoded backslash that leads out', 'https://example.org/retreat/..%5cother'],
  ['this machine', 'http://localhost:5173/desk'],
  ['this machine by its address', 'http://127.0.0.1:5173/'],
  ['this machine by IPv6', 'http://[::1]:5173/'],
  ['loopback as a number', 'http://2130706433:5173/'],
  ['loopback in hexadecimal', 'http://0x7f000001:5173/'],
  ['loopback in octal', 'http://0177.0.0.1:5173/'],
  ['loopback in a short form', 'http://127.1:5173/'],
  ['loopback in look-alike letters', 'http://ｌocalhost:5173/'],
  ['loopback within IPv6', 'http://[::ffff:127.0.0.1]:5173/'],
  ['a name that begins with localhost', 'http://localhost.example.com/'],
  ['a name that begins with a loopback address', 'http://127.0.0.1.example.com/'],
  ['a user that looks like loopback', 'http://localhost:5173@example.com/'],
  ['the address of all interfaces', 'http://0.0.0.0:5173/'],
  ['another machine on the local network', 'http://192.168.0.1:5173/'],
  ['another scheme on this machine', 'ftp://localhost/'],
  ['a scheme of another program', 'myapp://localhost/'],
  ["the applicants' page", 'https://example.org/retreat'],
  ["the applicants' page with a slash", 'https://example.org/retreat/'],
  ["the applicants' page with two slashes", 'https://example.org/retreat//'],
  ["the applicants' page with a query", 'https://example.org/retreat/?next=/retreat/desk'],
  ["the applicants' page with a fragment", 'https://example.org/retreat/#/retreat/desk'],
  ["the applicants' page by dots", 'https://example.org/retreat/desk/..'],
])('a link to %s leads to the desk instead', (_what, given) => {
  expect(redirectTarget(given, site).href).toBe(desk)
})

test("if the site has no path, a link may lead to every page except the applicants' page", () => {
  const root = new URL('https://example.org')
  expect(redirectTarget('https://example.org/anything', root).href).toBe('https://example.org/anything')
  expect(redirectTarget('https://example.org/', root).href).toBe('https://example.org/desk')
  expect(redirectTarget('https://example.org//', root).href).toBe('https://example.org/desk')
})

test.each([
  'http://localhost/',
  'http://localhost:5173/desk',
  'http://127.0.0.1:5173/',
  'http://127.8.9.10:5173/?a=b',
  'http://[::1]:5173/',
  'https://localhost:5173/',
])('without a public address a link redirects to %s', (given) => {
  expect(redirectTarget(given, new URL('http://127.0.0.1:3000')).href).toBe(given)
})

test("on this machine, a link to the applicants' page leads to the desk, and one to another port is allowed, by each name", () => {
  const here = new URL('http://localhost:3000')
  for (const name of ['localhost', '127.0.0.1', '[::1]']) {
    expect(redirectTarget(`http://${name}:3000/`, here).href).toBe('http://localhost:3000/desk')
    expect(redirectTarget(`http://${name}:5173/`, here).href).toBe(`http://${name}:5173/`)
  }
})

test("the link in an email leads to the desk, below the site's path", () => {
  const link = 'https://example.org/retreat/desk#token_hash=abc&type=magiclink'
  expect(deskLink(new URL('https://example.org/retreat/'), { secret: 'abc', type: 'magiclink' })).toBe(link)
  for (const target of [undefined, desk, `${desk}/`, `${desk}?a=1`]) {
    const requested = target === undefined ? undefined : new URL(target)
    expect(mailLink(site, { secret: 'abc', type: 'magiclink', target: requested })).toBe(link)
  }
})

test('a request with a redirect target, or with PKCE, gets a link to GET verify', () => {
  const secret = 'pkce_abc'
  expect(issuerOf(new URL('https://example.org/retreat/'))).toBe('https://example.org/retreat/auth/v1')
  expect(mailLink(site, { secret, type: 'recovery', target: undefined })).toBe(
    'https://example.org/retreat/auth/v1/verify?token=pkce_abc&type=recovery',
  )
  expect(mailLink(site, { secret: 'abc', type: 'magiclink', target: new URL(`${desk}/me?a=1&b=2#c`) })).toBe(
    'https://example.org/retreat/auth/v1/verify?token=abc&type=magiclink' +
      '&redirect_to=https%3A%2F%2Fexample.org%2Fretreat%2Fdesk%2Fme%3Fa%3D1%26b%3D2%23c',
  )
})
