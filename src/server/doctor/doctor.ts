import type { Settings } from '../../settings/server-settings.ts'
import type { Environment } from '../../settings/values.ts'
import { listOrganisers } from '../auth/organisers.ts'
import type { OpenedAsItIs } from '../database/database.ts'
import { listeningHolder } from '../database/lock.ts'
import { readDatabaseId } from '../database/database-id.ts'
import { ownerOfAuth } from '../database/owner-of-auth.ts'
import { lookInto, notKnown, notSet, ok, wrong, type Finding } from '../finding.ts'
import { checkMail } from '../mail/check.ts'
import type { Names } from '../mail/sender-domain.ts'
import { checkSupport } from '../runtime.ts'
import { checkBackups } from './backups.ts'
import { checkClock, checkDatabase, checkRights, checkSchemaState } from './database.ts'
import { checkDisk } from './disk.ts'
import { checkLetters, checkWebhook } from './outboxes.ts'
import { checkPrograms } from './programs.ts'
import { addressFrom } from './running-server.ts'
import { checkSettings } from './settings.ts'
import { askSite, judgeProxy, judgeSite } from './site.ts'

/** The things that the doctor examines. */
export interface Examined {
  /** The settings that the server would use. */
  settings: Settings
  environment: Environment
  /** The database; rejects where it cannot be opened. */
  database: Promise<OpenedAsItIs>
  /** The name servers to ask about the sender's domain; default the machine's. */
  names?: Names | undefined
}

/** Timeout of each check in milliseconds, a little longer than that of the database or of a request. */
const limit = 15_000

/**
 * Checks everything that a server needs, in parallel, without changing anything.
 *
 * @returns The findings, in the order in which they are printed. None of them rejects.
 */
export function examine({ settings, environment, database, names }: Examined): Promise<Finding>[] {
  const { dataDir, databaseUrl, mailServer, postgresBin } = settings
  // Opening has its own timeout. The checks of the database begin after it.
  const opened = database.then(
    (open) => ({ open }),
    () => undefined,
  )
  const ofDatabase = async (
    about: string,
    look: (open: OpenedAsItIs) => ReturnType<typeof checkDatabase>,
  ) => {
    const there = await opened
    return lookInto(about, limit, async () =>
      there === undefined ? notKnown('The database could not be asked.') : look(there.open),
    )
  }
  const identity = database.then(identify).catch(() => unknown)
  const asked = identity.then(({ holder }) => askSite(settings, addressFrom(holder, settings)))
  const responded = asked.then(
    () => {},
    () => {},
  )
  return [
    lookInto('settings', limit, () => checkSettings(environment)),
    lookInto('runtime', limit, async () => checkRuntime()),
    opened.then((there) =>
      lookInto('database', limit, async () =>
        checkDatabase(there === undefined ? await database : there.open),
      ),
    ),
    ...(databaseUrl === undefined
      ? [ofDatabase('postgresql', (open) => checkPrograms(open, postgresBin))]
      : []),
    ofDatabase('rights', checkRights),
    ofDatabase('schema', checkSchemaState),
    ofDatabase('clock', checkClock),
    lookInto('disk', limit, () => checkDisk(databaseUrl === undefined ? dataDir : undefined)),
    opened.then((there) => lookInto('backups', limit, () => checkBackups(settings, there?.open))),
    responded.then(() =>
      lookInto('site', limit, async () => judgeSite(await asked, settings, await identity)),
    ),
    responded.then(() => lookInto('proxy', limit, async () => judgeProxy(await asked, settings))),
    ofDatabase('webhook', (open) => checkWebhook(open, settings)),
    ofDatabase('letters', (open) => checkLetters(open, settings)),
    ...(mailServer === undefined
      ? [lookInto('mail', limit, async () => withoutMail(environment))]
      : checkMail(mailServer, { names })),
    ofDatabase('organisers', checkOrganisers),
  ]
}

function checkRuntime() {
  const { version, lastDay, problem } = checkSupport()
  if (problem !== undefined) return wrong(problem)
  return ok(`Node.js ${version}${lastDay === undefined ? '' : `, with security releases until ${lastDay}`}.`)
}

const unknown = { databaseId: undefined, isProjects: false, holder: undefined }

async function identify({ read }: OpenedAsItIs) {
  return read(async (sql) => ({
    databaseId: await readDatabaseId(sql),
    isProjects: (await ownerOfAuth(sql)) === 'supabase',
    holder: await listeningHolder(sql),
  }))
}

function withoutMail(environment: Environment) {
  return environment['MAIL_FROM']
    ? wrong('MAIL_FROM is set, but SMTP_URL is not, so no mail leaves: set it, or take MAIL_FROM away.')
    : notSet(
        'SMTP_URL is not set, so no mails leave: organisers sign in by links of yours, and write from their own mail programs.',
      )
}

async function checkOrganisers({ read }: OpenedAsItIs) {
  const organisers = await read((sql) => listOrganisers(sql))
  if (organisers.length === 0) {
    return notSet('There are none yet: npm run -s organisers -- --add <email> makes one.')
  }
  const guarded = organisers.filter(({ has_second_factor: has }) => has).length
  return ok(`${organisers.length}, of whom ${guarded} ${guarded === 1 ? 'has' : 'have'} a second factor.`)
}
