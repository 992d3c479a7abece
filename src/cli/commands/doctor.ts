import { constants } from 'node:os'

import { openForReading } from '../../server/database/database.ts'
import { examine } from '../../server/doctor/doctor.ts'
import { typedEmail } from '../../server/auth/manage-organisers.ts'
import { sendTests } from '../../server/doctor/send-tests.ts'
import { exitProcess } from '../../settings/exit-process.ts'
import { commandLine } from '../../settings/command-to-copy.ts'
import { OperatorError } from '../../settings/operator-error.ts'
import { readSettings, type Settings } from '../../settings/server-settings.ts'
import { version } from '../../settings/version.ts'
import { onOneLine } from '../formats.ts'
import { readOptions } from '../options.ts'
import { awaitSignal } from '../with-database.ts'

const usage = `Usage: ${commandLine('doctor', '[option]')}

  (none)            checks everything that a server needs: each thing is ok, not set, or it says what to do. Nothing
                    is changed; it ends with 1 where something is wrong.
  --quiet           prints only what is wrong
  --json            prints the findings as one JSON object
  --send <email>    also sends a test email there, and a delivery of the type "test" to the webhook`

/** Timeout of a running database that does not respond, in milliseconds. */
const databaseTimeout = 10_000

type Finding = Awaited<ReturnType<typeof examine>[number]>

/** Runs `npm run doctor`, by its options in `usage`. */
export async function run(): Promise<void> {
  const options = readOptions(
    { send: { type: 'string' }, json: { type: 'boolean' }, quiet: { type: 'boolean' } },
    usage,
  )
  if (options === undefined) return
  const to = options.send === undefined ? undefined : typedEmail(options.send)
  const { add, end } = beginReport(options)
  let settings: Settings
  try {
    settings = readSettings()
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    add({ about: 'settings', verdict: 'wrong', sentence: error.message })
    return end('Nothing else was checked: fix this first.')
  }
  const signal = awaitSignal()
  const database = openForReading(settings, databaseTimeout)
  const examining = addAll(add, [
    ...examine({ settings, environment: process.env, database }),
    ...(to === undefined ? [] : sendTests(to, settings)),
  ])
  // The name of a signal; undefined if everything was printed first.
  const [interrupted] = await Promise.race([examining, signal])
  // Stops a database that was started for this command.
  await database.then(
    ({ close }) => close(interrupted === undefined ? undefined : 'at once'),
    () => {},
  )
  if (interrupted !== undefined) {
    console.error('Interrupted.')
    return exitProcess(128 + constants.signals[interrupted])
  }
  end()
  // Calls that timed out may still be pending.
  await exitProcess()
}

/** Adds the findings in order, each as soon as it is known. */
async function addAll(add: (finding: Finding) => void, findings: readonly Promise<Finding>[]): Promise<[]> {
  for (const finding of findings) add(await finding)
  return []
}

/** Begins a report in one of the formats. The exit code is 1 if something is wrong. */
function beginReport({ json = false, quiet = false }: { json?: boolean; quiet?: boolean }) {
  const findings: Finding[] = []
  const say = (line: string) => {
    if (!json && !quiet) console.log(line)
  }
  say(`This is version ${version}.`)
  const add = (finding: Finding) => {
    const { about, verdict, sentence } = finding
    if (verdict === 'wrong') process.exitCode = 1
    else if (quiet) return
    findings.push(finding)
    if (!json) console.log(`${about.padEnd(15)}${verdict.padEnd(11)}${onOneLine(sentence)}`)
  }
  const end = (remark?: string) => {
    if (remark !== undefined) say(remark)
    if (json) console.log(JSON.stringify({ version, findings }))
  }
  return { add, end }
}
