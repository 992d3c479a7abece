/**
 * Compares the surviving mutants of `npm run test:mutation` with `survivors.txt`, which gives the reason of each. An
 * unlisted survivor fails the run, because a test or a reason is missing.
 */
import { readFile } from 'node:fs/promises'

import { OperatorError, runProgram } from '../../src/settings/operator-error.ts'

const report = 'tools/proofs/reports/mutation.json'
const knownList = 'tools/proofs/survivors.txt'

/** Lines and columns count from 1. */
interface Position {
  line: number
  column: number
}

interface Report {
  files: Record<
    string,
    {
      source: string
      mutants: {
        replacement?: string
        status: string
        location: { start: Position; end: Position }
      }[]
    }
  >
}

/**
 * Describes each survivor in a line without line numbers: its file, and the code with the change in the notation of
 * `git diff --word-diff`. Two mutants of one line differ, even if they replace the same characters.
 */
function survivorsOf({ files }: Report): string[] {
  return Object.entries(files).flatMap(([file, { source, mutants }]) => {
    const lines = source.split('\n')
    const offsetOf = ({ line, column }: Position) =>
      lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, column - 1)
    return mutants
      .filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
      .map(({ replacement = '', location: { start, end } }) => {
        const before = lines[start.line - 1]?.slice(0, start.column - 1) ?? ''
        const replaced = source.slice(offsetOf(start), offsetOf(end))
        const after = lines[end.line - 1]?.slice(end.column - 1) ?? ''
        const whole = `${before}[-${replaced}-]{+${replacement}+}${after}`
        return `${file} | ${whole.replaceAll(/\s+/g, ' ').trim()}`
      })
  })
}

async function main() {
  const mutationReport = JSON.parse(await readFile(report, 'utf8')) as Report
  const survivors = new Set(survivorsOf(mutationReport))
  const lines = (await readFile(knownList, 'utf8')).split('\n')
  // A reason is a line that begins with "#". The indented lines after it are its mutants.
  const known = new Set(lines.filter((line) => line.startsWith('  ')).map((line) => line.trim()))
  // A run of some files does not show whether mutants of other files survive.
  const outdated = [...known].filter(
    (line) => !survivors.has(line) && (line.split(' | ', 1)[0] ?? '') in mutationReport.files,
  )
  if (outdated.length > 0)
    console.log(`No longer survive, and can leave ${knownList}:\n${outdated.join('\n')}`)
  const unknown = [...survivors].filter((line) => !known.has(line))
  if (unknown.length > 0) {
    throw new OperatorError(
      `${unknown.length} mutants survive without a reason. Test what they change, or say in ${knownList} why not:\n${unknown.join('\n')}`,
    )
  }
  console.log(`Each of the ${survivors.size} survivors has its reason in ${knownList}.`)
}

await runProgram(main)
