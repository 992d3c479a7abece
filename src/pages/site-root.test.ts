import { expect, test } from 'vitest'

import { siteRoot } from './site-root.ts'

test.each([
  ['/', '/'],
  ['/desk', '/'],
  ['/desk/', '/'],
  ['/answer/index.html', '/'],
  ['/retreat/withdraw', '/retreat/'],
  ['/retreat/withdraw/', '/retreat/'],
  ['/retreat/desk/index.html', '/retreat/'],
])('the root of the site of the page at %s is %s', (pathname, root) => {
  expect(siteRoot({ origin: 'https://example.org', pathname })).toBe(`https://example.org${root}`)
})
