import { expectRefusal, fail, malformed, type Check } from './check.ts'

const otherOrigin = 'https://elsewhere.example'

/** Checks of requests from a page on another origin, such as the page on a static host. */
export const originChecks: readonly Check[] = [
  {
    name: 'a browser on another origin may send the same as the page',
    async run({ request, pageRequest }) {
      const requestHeaders = Object.keys(pageRequest.headers).filter((name) => name !== 'accept')
      const { status, error, headers } = await request({
        method: 'OPTIONS',
        headers: {
          origin: otherOrigin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': requestHeaders.join(','),
        },
      })
      if (status >= 300) fail('an answer of 2xx to the preflight', { status, error })
      expectOriginAllowed(headers)
      const allowed = headerNames(headers.get('access-control-allow-headers'))
      const missing = requestHeaders.filter(
        (name) => !allowed.includes(name) && !(allowed.includes('*') && name !== 'authorization'),
      )
      if (missing.length === 0) return
      throw new Error(
        `expected the headers ${requestHeaders.join(', ')} to be allowed, got none of ${missing.join(', ')}`,
      )
    },
  },
  {
    name: 'a browser on another origin may read why an application was refused',
    async run({ request }) {
      const response = await request({ body: '{', headers: { origin: otherOrigin } })
      expectRefusal(response, malformed)
      expectOriginAllowed(response.headers)
    },
  },
]

function expectOriginAllowed(headers: Headers) {
  const allowed = headers.get('access-control-allow-origin')
  if (allowed === '*' || allowed === otherOrigin) return
  throw new Error(`expected every origin to be allowed, got ${allowed ?? 'no access-control-allow-origin'}`)
}

function headerNames(header: string | null) {
  return (header ?? '').split(',').map((name) => name.trim().toLowerCase())
}
