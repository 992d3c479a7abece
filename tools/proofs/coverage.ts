// Prints the code of src/ and of the database's functions that no unit or database test reaches:
// npm run test:coverage -- src/server/rest
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { join, relative } from 'node:path'

import { isDebianPostgresInstalled, noDebianPostgres } from '../../test/support/other-postgres.ts'
import {
  databaseNamePlaceholder,
  declarations,
  startProfiledPostgres,
  type ProfiledPostgres,
} from './profiled-postgres.ts'

/** The fields of Istanbul's JSON that this file reads. */
interface FileCoverage {
  statementMap: Record<string, { start: { line: number } }>
  s: Record<string, number>
}

const reports = 'tools/proofs/reports/coverage'

const postgres = isDebianPostgresInstalled() ? await startProfiledPostgres() : undefined
try {
  // Failures are ignored here, because `npm test` reports them. The profiler refuses the parameters of `open … for execute`, so
  // some hundred tests fail that read lists.
  await runTests(postgres?.url(databaseNamePlaceholder))
  await printScripts()
  if (postgres === undefined)
    console.log(`\n${noDebianPostgres} Without it, coverage of functions is unknown.`)
  else await printFunctions(postgres)
} finally {
  await postgres?.close()
}

async function runTests(address: string | undefined) {
  await rm(reports, { recursive: true, force: true })
  const env = { ...process.env, ...(address !== undefined && { PROFILED_POSTGRES: address }) }
  const projects = ['unit', 'database', 'slow'].flatMap((name) => ['--project', name])
  // Of the slow tier, those that run the server's modules in the process of the test.
  const folders = ['src/', 'tools/', 'test/database/', 'test/system/updates/']
  const given = process.argv.slice(2)
  const filters = given.length > 0 ? given : folders
  const options = ['run', '--config', 'tools/proofs/coverage.config.ts', ...projects, '--reporter', 'dot']
  const child = spawn('npx', ['vitest', ...options, ...filters], { env, stdio: 'inherit' })
  await once(child, 'close')
}

async function printScripts() {
  const text = await readFile(join(reports, 'coverage-final.json'), 'utf8')
  const files = Object.entries(JSON.parse(text) as Record<string, FileCoverage>)
  const unloaded: string[] = []
  const lines: string[] = []
  let [all, reached] = [0, 0]
  for (const [path, { statementMap, s: counts }] of files.toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  )) {
    const file = relative('.', path)
    const statements = Object.entries(counts)
    const unreached = statements.filter(([, count]) => count === 0)
    if (statements.length > 0 && unreached.length === statements.length) {
      unloaded.push(file)
      continue
    }
    all += statements.length
    reached += statements.length - unreached.length
    if (unreached.length > 0)
      lines.push(`${file} ${rangesOf(unreached.map(([id]) => statementMap[id]?.start.line ?? 0))}`)
  }
  console.log(
    `\nTypeScript: ${percent(reached, all)} of the statements of the files that the tests load. Not reached:`,
  )
  console.log(lines.join('\n'))
  console.log(
    `\nNo unit or database test runs a statement of these files. Browser tests, or tests of separate programs, may:\n${unloaded.join(' ')}`,
  )
}

async function printFunctions({ profile }: ProfiledPostgres) {
  const functions = await profile()
  const declared = await declarations()
  const lines: string[] = []
  let [all, reached] = [0, 0]
  for (const [name, statements] of functions) {
    const { file = 'only in a migration', line: first = 1 } = declared.get(name) ?? {}
    const unreached = statements.filter(({ count }) => count === 0)
    all += statements.length
    reached += statements.length - unreached.length
    if (statements.length === 0) lines.push(`${file} ${name}: never called`)
    else if (unreached.length > 0)
      lines.push(`${file} ${name}: ${rangesOf(unreached.map(({ line }) => first + line - 1))}`)
  }
  console.log(`\nSQL: ${percent(reached, all)} of the statements in PL/pgSQL. Not reached:`)
  console.log(lines.toSorted().join('\n'))
}

function percent(part: number, whole: number) {
  return `${((100 * part) / whole).toFixed(1)} % (${part} of ${whole})`
}

/** Writes line numbers as ranges, such as `3-5, 9`. */
function rangesOf(lines: readonly number[]) {
  const ranges: [from: number, to: number][] = []
  for (const line of [...new Set(lines)].toSorted((a, b) => a - b)) {
    const last = ranges.at(-1)
    if (last !== undefined && line <= last[1] + 1) last[1] = line
    else ranges.push([line, line])
  }
  return ranges.map(([from, to]) => (from === to ? from : `${from}-${to}`)).join(', ')
}
