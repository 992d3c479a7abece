import type { CallerConnection } from './connections.ts'

/** The functions of the desk, as `supabase/migrations/` makes them. */
const deskFunctions = ['desk_me'] as const
export type DeskFunction = (typeof deskFunctions)[number]

export function isDeskFunction(name: string): name is DeskFunction {
  return deskFunctions.some((each) => each === name)
}

/**
 * Calls a function as the caller may.
 *
 * @returns What it returned, as JSON.
 * @throws {postgres.PostgresError} with the SQLSTATE in `code` where the database refuses.
 */
export async function callFunction(connection: CallerConnection, name: DeskFunction): Promise<string> {
  const [row] = await connection.execute(`select public.${name}()::text as result`, [], { prepare: true })
  return String(row?.['result'] ?? 'null')
}
