import { OperatorError } from '../../../settings/operator-error.ts'
import { isDatabaseError } from '../connection/connection.ts'
import type { Sql } from '../connection/sql.ts'

/** The roles that the schema grants to. A hosted project has these roles; a plain PostgreSQL gets them here. */
const roles = ['anon', 'authenticated', 'service_role']
/** The roles that our connections switch to. */
const switchableRoles = ['anon', 'authenticated']

/**
 * Creates the roles of the data interface if they are missing, and lets this user switch to them.
 *
 * @throws {OperatorError} with the SQL for an administrator if this user may not do that.
 */
export async function createRoles(transaction: Sql) {
  const existing = await transaction<{ rolname: string }[]>`
    select rolname from pg_roles where rolname = any(${roles})`
  const missing = roles.filter((role) => !existing.some(({ rolname }) => rolname === role))
  const statements = missing.map((role) => `create role ${role} nologin noinherit;`)
  try {
    await transaction.begin((part) => part.unsafe(statements.join(' ')))
    for (const role of switchableRoles) {
      if (await canSwitchTo(transaction, role)) continue
      await transaction.begin((part) => part.unsafe(`grant ${role} to current_user`))
    }
  } catch (cause) {
    if (!(isDatabaseError(cause) && cause.code === '42501')) throw cause
    const [row] = await transaction<{ user: string }[]>`select quote_ident(current_user) as user`
    throw new OperatorError(
      `The user of DATABASE_URL may not set up the roles of the data interface; an administrator has to run once: ${[...statements, `grant ${switchableRoles.join(', ')} to ${row?.user};`].join(' ')}`,
      { cause },
    )
  }
}

async function canSwitchTo(transaction: Sql, role: string) {
  try {
    await transaction.begin((part) => part.unsafe(`set local role ${role}; reset role`))
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === '42501') return false
    throw error
  }
}
