import type { Application } from '../../src/application/application.ts'
import { runCommand } from './server.ts'

/** Sends an application to the data interface as the page does. Returns the status of the response. */
export async function send(origin: string, application: Application): Promise<number> {
  const response = await fetch(`${origin}/rest/v1/retreat_applications`, {
    method: 'POST',
    headers: { apikey: 'public-anon-key', 'content-type': 'application/json' },
    body: JSON.stringify(application),
  })
  await response.arrayBuffer()
  return response.status
}

/** The email addresses of all stored applications. */
export async function storedEmails(settings: Record<string, string>): Promise<string[]> {
  const { stdout, stderr } = await runCommand(['applications', '--json'], settings)
  if (!/^Using .*\n$/.test(stderr)) throw new Error(stderr)
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { email: string }).email)
}
