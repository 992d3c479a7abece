import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { openDatabase } from '../../src/server/database/database.ts'
import { commandRunner, debianPrograms, initdbOptions } from '../../test/support/other-postgres.ts'
import { freePort } from '../../test/support/ports.ts'
import { installReset } from '../../test/support/reset.ts'
import { connectTo } from '../../test/support/sql.ts'

/** The folders that declare the functions. */
const schemas = ['supabase/schemas', 'src/server/database/schemas']
/** The prefix of the names of the tests' databases. */
export const prefix = 'profiled_'

/** The database with the schema. The tests' databases are copies of it. */
export const template = 'migrated'

/** The placeholder for a database's name in the address that the tests get. */
export const databaseNamePlaceholder = 'NAME'

/** A PostgreSQL from Debian's packages that counts how often each statement of a PL/pgSQL function ran. */
export interface ProfiledPostgres {
  /** The address of one of its databases. */
  url: (database: string) => string
  /** Adds up the counts of all the tests' databases, by function name. */
  profile: () => Promise<Map<string, Statement[]>>
  close: () => Promise<void>
}

/** A statement of a function. */
interface Statement {
  /** The line number, where the line of the first `$$` is 1. */
  line: number
  kind: string
  count: number
}

export async function startProfiledPostgres(): Promise<ProfiledPostgres> {
  const directory = await mkdtemp(join(tmpdir(), 'profiled-'))
  await chmod(directory, 0o755)
  const command = await commandRunner(debianPrograms, directory)
  const data = join(directory, 'pgdata')
  await command('initdb', `--pgdata=${data}`, ...initdbOptions)
  const port = await freePort()
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    fsync: 'off',
    max_connections: 500,
    shared_preload_libraries: 'plpgsql_check',
    'plpgsql_check.profiler': 'on',
    'plpgsql_check.profiler_max_shared_chunks': 50_000,
  }
  const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`)
  const log = join(directory, 'log')
  await command('pg_ctl', 'start', `--pgdata=${data}`, `--log=${log}`, '--wait', '-o', options.join(' '))
  const url = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`
  const admin = connectTo(url('postgres'))
  await admin.unsafe(`create database ${template}`)
  await admin.end()
  const database = await openDatabase({ dataDir: '', databaseUrl: url(template) }, { schema: 'migrate' })
  await installReset(database.owner)
  await database.close()
  return {
    url,
    profile: () => profileOf(url),
    async close() {
      await command('pg_ctl', 'stop', `--pgdata=${data}`, '-m', 'immediate')
      await rm(directory, { recursive: true })
    },
  }
}

async function profileOf(url: ProfiledPostgres['url']) {
  const all = new Map<string, Statement[]>()
  const admin = connectTo(url('postgres'))
  const databases = await admin<{ name: string }[]>`
    select datname as name from pg_database where starts_with(datname, ${prefix})`
  await admin.end()
  for (const { name } of databases) {
    const sql = connectTo(url(name))
    await sql`create extension if not exists plpgsql_check`
    const rows = await sql<(Statement & { name: string; id: number })[]>`
      select proname as name, stmtid as id, lineno as line, stmtname as kind, coalesce(exec_stmts, 0)::integer as count
      from pg_proc left join lateral plpgsql_profiler_function_statements_tb(pg_proc.oid::regprocedure) on true
      where pronamespace::regnamespace::text in ('public', 'private')
        and prolang = (select oid from pg_language where lanname = 'plpgsql')
      order by proname, stmtid`
    await sql.end()
    for (const { name: functionName, id, line, kind, count } of rows) {
      const statements = all.get(functionName) ?? []
      if (!all.has(functionName)) all.set(functionName, statements)
      // A function that was never called has no rows.
      if (id !== null) statements[id] = { line, kind, count: (statements[id]?.count ?? 0) + count }
    }
  }
  return all
}

/** Finds the file of each declared function, and the line of its first `$$`. */
export async function declarations(): Promise<Map<string, { file: string; line: number }>> {
  const functions = new Map<string, { file: string; line: number }>()
  for (const folder of schemas) {
    for (const name of (await readdir(folder, { recursive: true })).filter((each) => each.endsWith('.sql'))) {
      const file = join(folder, name)
      const lines = (await readFile(file, 'utf8')).split('\n')
      for (const [index, text] of lines.entries()) {
        const [, declared] = /^create function (?:public|private)\.(\w+)/.exec(text) ?? []
        const body = lines.indexOf('as $$', index)
        if (declared !== undefined && body !== -1) functions.set(declared, { file, line: body + 1 })
      }
    }
  }
  return functions
}
