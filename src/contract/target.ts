import { randomBytes } from 'node:crypto'
import { PostgrestClient } from '@supabase/postgrest-js'

import { table, type Application } from '../application/application.ts'
import { insertApplication } from '../client/insert.ts'

/** A backend to check, and the one application that the checks leave there. */
export interface Target {
  /** Its name and its reason say that it is a test. Each other well-formed row that the checks send has the same email. */
  application: Application
  /** The data interface, with the client and the headers that the page uses. */
  client: PostgrestClient
  /** The page's request for that application. */
  pageRequest: { body: BodyInit | null; headers: Record<string, string> }
  /** Sends requests that the client cannot send; default a POST to the table with the page's headers. */
  request: (init: RequestInit & { path?: string }) => Promise<TargetResponse & { headers: Headers }>
}

/** A response. */
export interface TargetResponse {
  status: number
  error: { code?: string; message?: string; details?: string | null } | null
}

/**
 * Prepares the checks of a backend.
 *
 * @param backend Its address, without `/rest/v1`, and its public key.
 * @param fetcher Sends the requests.
 */
export async function targetAt(
  { url, anonKey }: { url: string; anonKey: string },
  fetcher = fetch,
): Promise<Target> {
  const application: Application = {
    first_name: 'Test',
    last_name: 'of npm run verify',
    email: `verify+${randomBytes(6).toString('hex')}@example.com`,
    phone: '0',
    linkedin: 'none',
    company: 'none',
    paid_solution: '',
    custom_solution: '',
    team_size: '',
    reason: 'Written by npm run verify, to check the backend. Nobody applied: this may be deleted.',
    consent: true,
  }
  // Records the page's own call, so that the checks send the same as an applicant.
  let pageRequest: Target['pageRequest'] = { body: null, headers: {} }
  await insertApplication(application, { url, anonKey }, async (_input, init) => {
    pageRequest = { body: init?.body ?? null, headers: Object.fromEntries(new Headers(init?.headers)) }
    return new Response(null, { status: 201 })
  })
  const rest = `${url}/rest/v1`
  const { 'content-type': _, ...headers } = pageRequest.headers
  return {
    application,
    client: new PostgrestClient(rest, { headers, fetch: fetcher, retry: false }),
    pageRequest,
    async request({ path = table, ...init }) {
      const ownHeaders = Object.fromEntries(new Headers(init.headers))
      // A browser's preflight has no key.
      const defaultHeaders = init.method === 'OPTIONS' ? {} : pageRequest.headers
      const response = await fetcher(`${rest}/${path}`, {
        method: 'POST',
        ...init,
        headers: { ...defaultHeaders, ...ownHeaders },
      })
      const { status, headers: responseHeaders } = response
      return { status, error: errorIn(await response.text()), headers: responseHeaders }
    },
  }
}

function errorIn(text: string): TargetResponse['error'] {
  try {
    return JSON.parse(text) as TargetResponse['error']
  } catch {
    return { message: text }
  }
}
