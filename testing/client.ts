import type { Application } from '../src/application/application.ts'

/** Sends an application to the data interface as the page does; gives the answer's status. */
export async function send(origin: string, application: Application): Promise<number> {
  const response = await fetch(`${origin}/rest/v1/retreat_applications`, {
    method: 'POST',
    headers: { apikey: 'public-anon-key', 'content-type': 'application/json' },
    body: JSON.stringify(application),
  })
  await response.arrayBuffer()
  return response.status
}
