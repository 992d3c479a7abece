import { commandLine } from '../../settings/command-to-copy.ts'
import { withFiles } from '../../settings/values-from-files.ts'
import type { Settings } from '../../settings/server-settings.ts'
import type { Environment } from '../../settings/values.ts'
import { listOrganisers } from '../auth/manage-organisers.ts'
import type { ReadOnlyDatabase } from '../database/database.ts'
import { listeningHolder } from '../database/postgres/holder-lock.ts'
import { readDatabaseId } from '../database/connection/database-id.ts'
import { ownerOfAuth } from '../database/schema/owner-of-auth.ts'
import { runCheck, notKnown, notSet, ok, wrong, type Finding } from '../finding.ts'
import { checkMail } from '../mail/check.ts'
import type { DnsResolver } from '../mail/sender-domain.ts'
import { checkSupport } from '../node-security-releases.ts'
import { checkBackupDisk } from './machine/backup-disk.ts'
import { checkBackups } from './backups.ts'
import { checkCertificate } from './machine/certificate.ts'
import { checkClock, checkDatabase, checkRights, checkSchemaState } from './database.ts'
import { checkDisk } from './disk.ts'
import { checkOpenFiles } from './open-files.ts'
import { checkNtp } from './machine/clock-sync.ts'
import { checkLetters, checkWebhook } from './outboxes.ts'
import { checkPrograms } from './programs.ts'
import { addressFrom } from './find-server.ts'
import { checkSettings } from './settings.ts'
import { askSite, checkProxy, checkSite } from './site.ts'

/** The things that the doctor examines. */
export interface Examined {
  /** The settings that the server would use. */
  settings: Settings
  environment: Environment
  /** The database; rejects if it cannot be opened. */
  database: Promise<ReadOnlyDatabase>
  /** The name servers to ask about the sender's domain; default the machine's. */
  resolver?: DnsResolver | undefined
}

/** Timeout of each check in milliseconds, a little longer than the timeout of the database or of a request. */
const timeout = 15_000

/**
 * Checks everything that a server needs, in parallel, without changing anything.
 *
 * @returns The findings, in the order in which they are printed. None of them rejects.
 */
export function examine({ settings, environment, database, resolver }: Examined): Promise<Finding>[] {
  const { dataDir, databaseUrl, mailServer, postgresBin } = settings
  // Opening the database has its own timeout. The timeouts of its checks begin afterwards.
  const opened = database.then(
    (open) => ({ open }),
    () => undefined,
  )
  const checkOfDatabase = async (
    about: string,
    check: (open: ReadOnlyDatabase) => ReturnType<typeof checkDatabase>,
  ) => {
    const result = await opened
    return runCheck(about, timeout, async () =>
      result === undefined ? notKnown('The database could not be read.') : check(result.open),
    )
  }
  const identity = database.then(identify).catch(() => unknownIdentity)
  const responses = identity.then(({ holder }) => askSite(settings, addressFrom(holder, settings)))
  // The timeouts of the checks of these responses begin when all have arrived.
  const settledResponses = responses.then(
    () => {},
    () => {},
  )
  return [
    runCheck('settings', timeout, () => checkSettings(environment)),
    runCheck('runtime', timeout, async () => checkRuntime()),
    opened.then((result) =>
      runCheck('database', timeout, async () =>
        checkDatabase(result === undefined ? await database : result.open),
      ),
    ),
    ...(databaseUrl === undefined
      ? [checkOfDatabase('postgresql', (open) => checkPrograms(open, postgresBin))]
      : []),
    checkOfDatabase('rights', checkRights),
    checkOfDatabase('schema', checkSchemaState),
    checkOfDatabase('clock', checkClock),
    runCheck('ntp', timeout, () => checkNtp()),
    runCheck('disk', timeout, () => checkDisk(databaseUrl === undefined ? dataDir : undefined)),
    opened.then((result) => runCheck('backups', timeout, () => checkBackups(settings, result?.open))),
    runCheck('backup disk', timeout, () => checkBackupDisk(settings)),
    settledResponses.then(() =>
      runCheck('site', timeout, async () => checkSite(await responses, settings, await identity)),
    ),
    settledResponses.then(() =>
      runCheck('proxy', timeout, async () => checkProxy(await responses, settings)),
    ),
    settledResponses.then(() => runCheck('open files', timeout, async () => checkOpenFiles(await responses))),
    runCheck('certificate', timeout, () => checkCertificate(settings.siteUrl)),
    checkOfDatabase('webhook', (open) => checkWebhook(open, settings)),
    checkOfDatabase('letters', (open) => checkLetters(open, settings)),
    ...(mailServer === undefined
      ? [runCheck('mail', timeout, async () => withoutMail(withFiles(environment)))]
      : checkMail(mailServer, { resolver })),
    checkOfDatabase('organisers', checkOrganisers),
  ]
}

function checkRuntime() {
  const { version, lastDay, problem } = checkSupport()
  if (problem !== undefined) return wrong(problem)
  return ok(`Node.js ${version}${lastDay === undefined ? '' : `, with security releases until ${lastDay}`}.`)
}

const unknownIdentity = { databaseId: undefined, isHostedProject: false, holder: undefined }

async function identify({ read }: ReadOnlyDatabase) {
  return read(async (sql) => ({
    databaseId: await readDatabaseId(sql),
    isHostedProject: (await ownerOfAuth(sql)) === 'supabase',
    holder: await listeningHolder(sql),
  }))
}

function withoutMail(environment: Environment) {
  return environment['MAIL_FROM']
    ? wrong('MAIL_FROM is set, but SMTP_URL is not, so no email is sent: set SMTP_URL, or remove MAIL_FROM.')
    : notSet(
        'SMTP_URL is not set, so no emails are sent: organisers sign in with links that you create, and write from their own mail programs.',
      )
}

async function checkOrganisers({ read }: ReadOnlyDatabase) {
  const organisers = await read((sql) => listOrganisers(sql))
  if (organisers.length === 0) {
    return notSet(`There are none yet: ${commandLine('organisers', '--add <email>')} makes one.`)
  }
  const withSecondFactor = organisers.filter(({ has_second_factor: has }) => has).length
  return ok(
    `${organisers.length}, of whom ${withSecondFactor} ${withSecondFactor === 1 ? 'has' : 'have'} a second factor.`,
  )
}
