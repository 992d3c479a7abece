import { constants } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { isDatabaseError } from '../server/database/connection/connection.ts'

import {
  openDatabase,
  type Database,
  type DatabaseLocation,
  type OpenOptions,
} from '../server/database/database.ts'
import { lossError } from '../server/database/connection/operator-errors.ts'
import { remedyForOld } from '../server/database/schema/schema-state.ts'
import { exitProcess } from '../settings/exit-process.ts'
import { OperatorError } from '../settings/operator-error.ts'
import { readSettings } from '../settings/server-settings.ts'

/** Milliseconds within which two signals count as one. */
const signalGap = 500
/** Milliseconds for interrupted work to clean up. */
const grace = 2_000

/**
 * Opens the database of the settings while `work` runs, and names it on standard error. Ctrl-C, SIGTERM and the end of the terminal
 * (SIGHUP) close it, so that a PostgreSQL that this function started does not keep running.
 *
 * @param schema The handling of the schema; `check` also allows an older one. A database that this function creates is removed if
 *   `work` fails.
 * @param location A database to use in place of the settings' database. A temporary one is always removed.
 * @throws {OperatorError} if the database cannot be used, or its schema lacks something that `work` needs.
 */
export async function withDatabase(
  work: (database: Database) => Promise<void>,
  schema: OpenOptions['schema'] = 'check',
  location: DatabaseLocation & { isTemporary?: boolean } = readSettings(),
): Promise<void> {
  const signal = awaitSignal()
  const database = await openDatabase(location, {
    schema,
    onEvent: (message) => console.error(message),
  })
  console.error(`Using ${database.description}.`)
  const running = work(database)
  // Either the result of the work, or the name of a signal.
  const [outcome] = await Promise.race([Promise.allSettled([running]), signal])
  if (typeof outcome === 'string') {
    // Closing the connections ends the queries of the work.
    await database.discard()
    await Promise.race([Promise.allSettled([running]), wait(grace)])
    console.error('Interrupted.')
    return exitProcess(128 + constants.signals[outcome])
  }
  if (outcome.status === 'fulfilled')
    return location.isTemporary === true ? database.discard() : database.close()
  await database.discard()
  throw (
    olderSchemaError(outcome.reason, database) ?? lossError(outcome.reason, location, database.description)
  )
}

let areInterruptsIgnored = false

/** Leaves Ctrl-C to a program that `work` runs on the same terminal. The program decides when it ends. */
export async function ignoreInterrupts<T>(work: () => Promise<T>): Promise<T> {
  areInterruptsIgnored = true
  try {
    return await work()
  } finally {
    areInterruptsIgnored = false
  }
}

/**
 * Resolves at the first signal, with its name in an array. A second signal ends the process. Ctrl-C arrives twice, from the
 * terminal and from npm, and counts as one signal.
 */
export function awaitSignal() {
  let first: number | undefined
  return new Promise<['SIGINT' | 'SIGTERM' | 'SIGHUP']>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        if (signal === 'SIGINT' && areInterruptsIgnored) return
        first ??= performance.now()
        if (performance.now() - first > signalGap) void exitProcess(128 + constants.signals[signal])
        resolve([signal])
      })
    }
  })
}

/** Replaces an error about a missing table, column or function with a sentence: the schema is older than this program. */
function olderSchemaError(error: unknown, { isUpToDate }: Database) {
  const isMissing = isDatabaseError(error) && /^(42P01|42703|42883)$/.test(error.code)
  if (!isMissing || isUpToDate) return undefined
  return new OperatorError(`The database is of an older version than this command needs: ${remedyForOld}.`, {
    cause: error,
  })
}
