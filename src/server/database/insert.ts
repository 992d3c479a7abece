import { columns, table, type Application } from '../../application/application.ts'
import type { VisitorConnections } from './connections.ts'

/** Every column of the table, and its type. Two of them a visitor may not set, which is for the database to say. */
const tableColumns = {
  ...(Object.fromEntries(columns.map((column) => [column, 'text'])) as Record<keyof Application, string>),
  consent: 'boolean',
  id: 'uuid',
  created_at: 'timestamptz',
}
export type TableColumn = keyof typeof tableColumns

export function isTableColumn(name: string): name is TableColumn {
  return Object.hasOwn(tableColumns, name)
}

/** Rows as they were sent, and what to take of them. */
export interface SentRows {
  /** The JSON text of one object or of an array of objects. */
  json: string
  isArray: boolean
  /** How many rows it holds, as far as can be told without reading them. */
  count: number
  columns: readonly TableColumn[]
  /** Whether a value that one row of several lacks becomes the column's default; otherwise null. */
  missingAsDefault: boolean
}

/** One whole application as rows to insert. */
export function rowsOf(application: Application): SentRows {
  return { json: JSON.stringify(application), isArray: false, count: 1, columns, missingAsDefault: false }
}

/**
 * Stores applications as a visitor may, in one statement: all of them or none. Types, defaults and
 * constraints are applied by PostgreSQL to the JSON as it came, as PostgREST has it done.
 *
 * @returns How many rows were stored.
 * @throws {postgres.PostgresError} with the SQLSTATE in `code` where the database refuses.
 */
export async function insertApplications(anon: VisitorConnections, rows: SentRows): Promise<number> {
  if (rows.columns.length === 0) {
    return anon.execute(`insert into public.${table} default values`)
  }
  // A prepared statement for each set of columns would fill memory: only whole rows keep theirs.
  const prepare = rows.columns.length === columns.length && !rows.missingAsDefault
  return anon.execute(statement(rows), [rows.json], { prepare })
}

function statement({ isArray, columns: names, missingAsDefault }: SentRows) {
  const sorted = names.toSorted()
  const list = sorted.join(', ')
  const rows = missingAsDefault
    ? populated(isArray)
    : // The parameter is text first: the driver would encode a json parameter once more.
      `${isArray ? 'json_to_recordset' : 'json_to_record'}($1::text::json)
        as sent(${sorted.map((name) => `${name} ${tableColumns[name]}`).join(', ')})`
  return `insert into public.${table} (${list}) select ${list} from ${rows}`
}

/** Takes what a row lacks from another row: three times as dear, and rarely asked for. */
function populated(isArray: boolean) {
  const none = `null::public.${table}`
  const defaults = `jsonb_populate_record(${none}, '{"paid_solution": "", "custom_solution": "", "team_size": ""}')`
  return `${isArray ? 'json_populate_recordset' : 'json_populate_record'}(${defaults}, $1::text::json)`
}
