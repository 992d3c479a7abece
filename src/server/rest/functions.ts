import { cached } from '../cached.ts'
import type { Sql } from '../database/connection/sql.ts'
import { ourFunctionsCondition } from '../database/schema/owner.ts'

/** A function of the desk or for visitors, as `supabase/schemas/` declares it. */
export interface DeskFunction {
  name: string
  /** The parameters by name, in the order of the declaration. */
  parameters: ReadonlyMap<string, { type: string; isOptional: boolean }>
  /** Whether it only reads. */
  isStable: boolean
  /** Whether callers that have only the public key may call it, too. */
  isPublic: boolean
}

/** Finds a function by its name and the names of the given arguments; undefined if there is none that takes them. */
export type FindFunction = (name: string, given: readonly string[]) => Promise<DeskFunction | undefined>

/** The minimum number of milliseconds between two re-reads after a function was not found. */
const rereadInterval = 1_000

/**
 * The functions of a database. They are read on first use, and again if one is not found, since another server may have changed
 * the schema.
 */
export function createFunctions(sql: Sql): FindFunction {
  const functions = cached(() => readDeskFunctions(sql))
  return async (name, given) => {
    const findIn = (known: ReadonlyMap<string, DeskFunction>) => {
      const found = known.get(name)
      return found !== undefined && acceptsArguments(found, given) ? found : undefined
    }
    return findIn(await functions(Infinity)) ?? findIn(await functions(rereadInterval))
  }
}

/** Reads the callable functions from the database, by name. */
export async function readDeskFunctions(sql: Sql): Promise<ReadonlyMap<string, DeskFunction>> {
  const rows = await sql<
    {
      name: string
      names: string[] | null
      types: string[]
      optional: number
      isStable: boolean
      isPublic: boolean
    }[]
  >`
      select proname as name, proargnames as names, pronargdefaults as optional,
        provolatile <> 'v' as "isStable", has_function_privilege('anon', oid, 'execute') as "isPublic",
        (select coalesce(json_agg(format_type(type, null) order by number), '[]')
          from unnest(proargtypes) with ordinality as given (type, number)) as types
      from pg_proc where pronamespace = 'public'::regnamespace and ${ourFunctionsCondition}`
  return new Map(
    rows.map(({ name, names, types, optional, ...rest }) => {
      const parameters = types.map((type, index) => {
        const isOptional = index >= types.length - optional
        return [names?.[index] ?? '', { type, isOptional }] as const
      })
      return [name, { name, parameters: new Map(parameters), ...rest }]
    }),
  )
}

/**
 * Whether a function can be called with these arguments.
 *
 * @param names The names of the arguments.
 */
function acceptsArguments({ parameters }: DeskFunction, names: readonly string[]): boolean {
  return (
    names.every((name) => parameters.has(name)) &&
    [...parameters].every(([name, { isOptional }]) => isOptional || names.includes(name))
  )
}

/**
 * Calls a function with the caller's rights. A function that only reads runs in a read-only transaction.
 *
 * @param json The arguments by name, as the JSON text of an object.
 * @param names The names in `json`.
 * @returns The function's result as JSON.
 * @throws {DatabaseError} with the SQLSTATE in `code` if the database refuses the call.
 */
export async function callFunction(
  sql: Sql,
  { name, parameters, isStable }: DeskFunction,
  json: string,
  names: readonly string[],
): Promise<string> {
  const given = [...parameters].filter(([parameter]) => names.includes(parameter))
  const call = `public.${name}(${given.map(([parameter]) => `"${parameter}" => sent."${parameter}"`).join(', ')})`
  const sent = given.map(([parameter, { type }]) => `"${parameter}" ${type}`).join(', ')
  const source = given.length === 0 ? '' : ` from json_to_record($1::json) as sent(${sent})`
  const [row] = await sql.unsafe<{ result: string | null }[]>(
    `select ${call}::text as result${source}`,
    given.length === 0 ? [] : [json],
    { prepare: true, readOnly: isStable },
  )
  return row?.result ?? 'null'
}
