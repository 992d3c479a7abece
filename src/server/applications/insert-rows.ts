import { columns, table, type Application } from '../../application/application.ts'
import type { Sql } from '../database/connection/sql.ts'

/** Every column of the table, and its type. The database refuses visitors who set other columns than those of the form. */
const columnTypes = {
  ...(Object.fromEntries(columns.map((column) => [column, 'text'])) as Record<keyof Application, string>),
  consent: 'boolean',
  id: 'uuid',
  created_at: 'timestamptz',
  edition: 'integer',
  added_by: 'text',
}
/** The name of a column of the table. */
export type InsertColumn = keyof typeof columnTypes

/** Whether the table has a column of this name. */
export function isInsertColumn(name: string): name is InsertColumn {
  return Object.hasOwn(columnTypes, name)
}

/** Rows as they were sent, and the columns to insert. */
export interface SentRows {
  /** The JSON text of one object or of an array of objects. */
  json: string
  isArray: boolean
  /** The number of rows, as far as it is known without parsing them. */
  count: number
  columns: readonly InsertColumn[]
  /** The form answers, if the JSON is one object with all of them and nothing else. */
  formAnswers?: Readonly<Record<string, unknown>>
  /** Whether a value that a row lacks becomes the column's default; otherwise it becomes null. */
  usesDefaults: boolean
}

/** One complete application as rows to insert. */
export function sentRowsOf(application: Application): SentRows {
  const json = JSON.stringify(application)
  return { json, isArray: false, count: 1, columns, formAnswers: { ...application }, usesDefaults: false }
}

/**
 * Stores applications in one statement, all or none. As with PostgREST, PostgreSQL applies types, defaults and constraints to the
 * JSON as it was sent.
 *
 * @param sql Queries with the caller's rights.
 * @returns The number of stored rows.
 * @throws {DatabaseError} with the SQLSTATE in `code` if the database refuses them.
 */
export async function insertApplications(sql: Sql, rows: SentRows): Promise<number> {
  const { json, isArray, columns: names, usesDefaults } = rows
  if (names.length === 0) return (await sql.unsafe(`insert into ${tableName} default values`)).count
  const sorted = names.toSorted()
  const list = sorted.join(', ')
  const source = usesDefaults
    ? // Missing values come from a row of defaults.
      `${isArray ? 'json_populate_recordset' : 'json_populate_record'}(${await defaultRow(sql)}, $1::json)`
    : `${isArray ? 'json_to_recordset' : 'json_to_record'}($1::json)
        as sent(${sorted.map((column) => `${column} ${columnTypes[column]}`).join(', ')})`
  // Prepare only the statement for complete rows: one statement for each set of columns would fill the memory.
  const prepare = names.length === columns.length && !usesDefaults
  const insert = `insert into ${tableName} (${list}) select ${list} from ${source}`
  return (await sql.unsafe(insert, [json], { prepare })).count
}

const tableName = `public.${table}`

/** The table's defaults as a row, in SQL. */
async function defaultRow(sql: Sql) {
  const values = await sql.unsafe(`
    select coalesce(pg_get_expr(adbin, adrelid), 'null') as value
    from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where attrelid = '${tableName}'::regclass and attnum > 0 order by attnum`)
  return `row(${values.map(({ value }) => String(value)).join(', ')})::${tableName}`
}
