import { setTimeout as delay } from 'node:timers/promises'

import { table } from '../../application/application.ts'
import { checks } from '../../contract/checks.ts'
import { DoorClosedError, type Check } from '../../contract/check.ts'
import { targetAt, type Target } from '../../contract/target.ts'
import { commandLine } from '../../settings/command-to-copy.ts'
import { OperatorError } from '../../settings/operator-error.ts'
import { checkedPublicKey } from '../../settings/public-key.ts'
import { onOneLine } from '../formats.ts'
import { readOptions } from '../options.ts'

const usage = `Usage: ${commandLine('verify', '--url <address> --key <public key>')}

Checks that a backend stores applications, once, and refuses everything else: a Supabase project or a server of
your own. It leaves one application there, which says that it is a test; a server of your own sends that on to
its webhook. Where the door is closed, it says so and leaves nothing.

  --url <address>  the backend's address, such as https://<project>.supabase.co
  --key <key>      its public key`

/** Timeout of a request, in milliseconds. */
const timeout = 20_000
/** The maximum number of retries of a request that a rate limit refused. */
const maxRetries = 3

/** Runs `npm run verify`, by its options in `usage`. */
export async function run(): Promise<void> {
  const options = readOptions({ url: { type: 'string' }, key: { type: 'string' } }, usage)
  if (options === undefined) return
  const url = readUrl(options.url)
  const anonKey = readKey(options.key)
  await checkReachable(url)

  const target = await targetAt({ url, anonKey }, fetchWithRetry)
  await checkKey(target)
  let failed = 0
  let isClosed = false
  for (const check of checks) {
    if (isClosed && check.needsOpenDoor) continue
    const outcome = await outcomeOf(check, target)
    if (outcome === 'failed') failed += 1
    if (outcome === 'closed') isClosed = true
  }
  printLeftovers(target, failed, isClosed)
  if (failed > 0) throw new OperatorError(`${failed} of ${checks.length} checks failed.`)
}

function readUrl(given: string | undefined) {
  if (given === undefined) {
    throw new OperatorError('--url is missing: it is the address of the backend to check.')
  }
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (url === undefined || !['https:', 'http:'].includes(url.protocol)) {
    throw new OperatorError(
      `--url is "${given}" but should be an address that begins with https:// or http://.`,
    )
  }
  return (url.origin + url.pathname).replace(/\/+(rest\/v1\/*)?$/, '')
}

function readKey(given: string | undefined) {
  if (given === undefined) throw new OperatorError("--key is missing: it is the backend's public key.")
  return checkedPublicKey('--key', given)
}

async function checkReachable(url: string) {
  try {
    await fetchWithRetry(`${url}/rest/v1/`, { method: 'HEAD' })
  } catch (cause) {
    throw new OperatorError(`--url is "${url}", where nothing answers (${reason(cause)}).`, { cause })
  }
}

/** A refused key would fail every check. With the right key, this read is refused too, but with the code 42501. */
async function checkKey({ request }: Target) {
  const { status, error } = await request({ method: 'GET', path: `${table}?limit=0`, body: null })
  if (status !== 401 || error?.code === '42501') return
  throw new OperatorError('--key (not shown) is not the public key of this backend, which refuses it.')
}

/** The network's message is in the cause of the error of `fetch`. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause !== undefined) return reason(error.cause)
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message
}

/** Sends a request. If a rate limit refuses it, retries after the time that the response names, up to a minute. */
async function fetchWithRetry(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  for (let repeat = 0; ; repeat += 1) {
    const response = await fetch(input, { ...init, signal: AbortSignal.timeout(timeout) })
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
    if (response.status !== 429 || repeat === maxRetries || !(seconds <= 60)) return response
    await response.body?.cancel()
    console.error(`Rate limit reached: continuing in ${seconds} seconds.`)
    await delay(seconds * 1000)
  }
}

async function outcomeOf({ name, run: runCheck }: Check, target: Target) {
  try {
    await runCheck(target)
    console.log(`✓ ${name}`)
    return 'passed'
  } catch (error) {
    if (error instanceof DoorClosedError) {
      console.log(`The door is closed: ${onOneLine(error.message.slice(0, 300))}`)
      return 'closed'
    }
    console.log(`✗ ${name}: ${error instanceof Error ? error.message : String(error)}`)
    return 'failed'
  }
}

/** Prints what is left on the backend. If a check failed, that may be more than one application. */
function printLeftovers({ application: { email } }: Target, failed: number, isClosed: boolean) {
  if (isClosed && failed === 0) {
    const skipped = checks.filter(({ needsOpenDoor }) => needsOpenDoor).length
    console.log(`
Nothing is left there. Run this again when the door is open: ${skipped} of ${checks.length} checks need that.`)
    return
  }
  const leftovers =
    failed === 0
      ? 'One application is left, which says that it is a test. Its email is'
      : 'Applications that say that they are tests may be left. Their email is'
  console.log(`
${leftovers} ${email}, and this deletes it:

  delete from public.retreat_applications where email = '${email}';

On a server of your own, so does ${commandLine('applications', '--delete <id>')}; ${commandLine('applications')} shows the id.`)
}
