import { OperatorError } from '../../../settings/operator-error.ts'
import { appliedMigrations, editedMigrations, isNewer, refuseNewer } from './ledgers.ts'
import { migrations, nameOf, type Migration } from './migration-files.ts'
import { ownerOfAuth } from './owner-of-auth.ts'
import type { Sql } from '../connection/sql.ts'

/**
 * Checks that this program can work with the existing schema, without changing it. An older schema passes.
 *
 * @returns Whether the schema is up to date.
 * @throws {OperatorError} if the schema is missing, or newer than this program.
 */
export async function checkSchema(sql: Sql): Promise<boolean> {
  const applied = await appliedMigrations(sql)
  if (applied.shared.size === 0)
    throw new OperatorError(`This database holds no applications yet: ${remedyForOld}.`)
  refuseNewer(applied)
  return migrations.every(({ ledger, version }) => applied[ledger].has(version))
}

/** A database's schema, compared with this program's. */
export interface SchemaState {
  /** The newest of our migrations that the database records, or only the version of a newer program's; undefined if none. */
  newest: string | undefined
  /**
   * Migrations of this program that the database lacks. In a hosted project without a server, only those that `supabase db push`
   * applies.
   */
  missing: string[]
  /** Whether a newer version of this program has changed the schema. */
  isNewer: boolean
  /** The migrations of which the database applied another text. */
  edited: Migration[]
  isHostedProject: boolean
}

/** Compares the schema with this program's, without changing it. */
export async function schemaState(sql: Sql): Promise<SchemaState> {
  const applied = await appliedMigrations(sql)
  const isHostedProject = (await ownerOfAuth(sql)) === 'supabase'
  const isPushed = isHostedProject && applied.server.size === 0
  const wanted = migrations.filter(({ ledger }) => ledger === 'shared' || !isPushed)
  const recorded = wanted.filter(({ ledger, version }) => applied[ledger].has(version))
  const last = isNewer(applied) ? { version: await schemaVersion(sql), name: '' } : recorded.at(-1)
  return {
    newest: last && (last.name === '' ? last.version : nameOf(last)),
    missing: wanted.filter((each) => !recorded.includes(each)).map(nameOf),
    isNewer: isNewer(applied),
    edited: await editedMigrations(sql),
    isHostedProject,
  }
}

/** The version of the newest migration that the database records, in either ledger. */
export async function schemaVersion(sql: Sql): Promise<string> {
  const { shared, server } = await appliedMigrations(sql)
  return [...shared, ...server].reduce((newest, version) => (version > newest ? version : newest), '')
}

/** The operator's remedy if the schema is missing, or too old for a command. */
export const remedyForOld = 'start the server once, which brings its schema up to date'
