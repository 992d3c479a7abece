import { constants } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { isDatabaseError } from '../server/database/connection.ts'

import {
  openDatabase,
  type Database,
  type DatabaseLocation,
  type OpenOptions,
} from '../server/database/database.ts'
import { toUpdate } from '../server/database/schema-state.ts'
import { leave } from '../settings/leave.ts'
import { OperatorError } from '../settings/operator-error.ts'
import { readSettings } from '../settings/server-settings.ts'

/** Milliseconds after which a second signal is not the first one again. */
const twice = 500
/** Milliseconds for interrupted work to tidy up. */
const grace = 2_000

/**
 * Opens the database that the settings name for as long as `act` takes, and says on standard error which one that
 * is. Ctrl-C and SIGTERM end it in order, so that a PostgreSQL which this started does not stay behind.
 *
 * @param schema What becomes of the schema; `check` uses an older one than this program's as far as it goes.
 *   One that this makes for `act` is taken away again where that fails.
 * @param location Another database than the settings name; one that is temporary is taken away in any case.
 * @throws {OperatorError} where the database cannot be used, or its schema lacks what `act` needs.
 */
export async function withDatabase(
  act: (database: Database) => Promise<void>,
  schema: OpenOptions['schema'] = 'check',
  location: DatabaseLocation & { isTemporary?: boolean } = readSettings(),
): Promise<void> {
  const signal = awaitSignal()
  const database = await openDatabase(location, {
    schema,
    onEvent: (message) => console.error(message),
  })
  console.error(`Using ${database.description}.`)
  const acting = act(database)
  const [outcome] = await Promise.race([Promise.allSettled([acting]), signal])
  if (typeof outcome === 'string') {
    // Its queries end with the connections.
    await database.discard()
    await Promise.race([Promise.allSettled([acting]), wait(grace)])
    console.error('Interrupted.')
    return leave(128 + constants.signals[outcome])
  }
  if (outcome.status === 'fulfilled')
    return location.isTemporary === true ? database.discard() : database.close()
  await database.discard()
  throw lacking(outcome.reason, database) ?? outcome.reason
}

let areInterruptsLeft = false

/** Leaves Ctrl-C to a program that `act` runs on the same terminal. That program decides when it ends. */
export async function leaveInterrupts<T>(act: () => Promise<T>): Promise<T> {
  areInterruptsLeft = true
  try {
    return await act()
  } finally {
    areInterruptsLeft = false
  }
}

/**
 * Resolves when the first signal comes; the second one ends the process. Ctrl-C reaches this process from the
 * terminal and again from npm, which is one.
 */
export function awaitSignal() {
  let first: number | undefined
  return new Promise<['SIGINT' | 'SIGTERM']>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (signal === 'SIGINT' && areInterruptsLeft) return
        first ??= performance.now()
        if (performance.now() - first > twice) void leave(128 + constants.signals[signal])
        resolve([signal])
      })
    }
  })
}

/** Replaces an error about a missing table, column or function by a sentence, since then the schema is older. */
function lacking(error: unknown, { isUpToDate }: Database) {
  const isMissing = isDatabaseError(error) && /^(42P01|42703|42883)$/.test(error.code)
  if (!isMissing || isUpToDate) return undefined
  return new OperatorError(`The database is of an older version than this command needs: ${toUpdate}.`, {
    cause: error,
  })
}
