/**
 * Compares the mutants that survived `npm run test:mutation` with those of `survivors.txt`, where each has its reason. One that is
 * not there fails: a test is missing, or a reason.
 */
import { readFile } from 'node:fs/promises'

import { OperatorError, runProgram } from '../../src/settings/operator-error.ts'

const report = 'tools/proofs/reports/mutation.json'
const list = 'tools/proofs/survivors.txt'

interface Report {
  files: Record<
    string,
    {
      source: string
      mutants: {
        mutatorName: string
        replacement?: string
        status: string
        location: { start: { line: number } }
      }[]
    }
  >
}

/** Each survivor in a line that stays the same when lines are added above it: its file, its line and what replaced some of it. */
function survivorsOf({ files }: Report): string[] {
  return Object.entries(files).flatMap(([file, { source, mutants }]) => {
    const lines = source.split('\n')
    return mutants
      .filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
      .map(({ mutatorName, replacement = '', location }) => {
        const line = lines[location.start.line - 1] ?? ''
        const short = (text: string) => text.replaceAll(/\s+/g, ' ').trim().slice(0, 100)
        return `${file} | ${short(line)} | ${mutatorName}: ${short(replacement)}`
      })
  })
}

async function main() {
  const found = JSON.parse(await readFile(report, 'utf8')) as Report
  const survivors = new Set(survivorsOf(found))
  const lines = (await readFile(list, 'utf8')).split('\n')
  // A reason is a line that begins with "#"; those that it is for follow, indented.
  const known = new Set(lines.filter((line) => line.startsWith('  ')).map((line) => line.trim()))
  // A run of some files alone says nothing of the others.
  const gone = [...known].filter(
    (line) => !survivors.has(line) && (line.split(' | ', 1)[0] ?? '') in found.files,
  )
  if (gone.length > 0) console.log(`No longer survive, and can leave ${list}:\n${gone.join('\n')}`)
  const unknown = [...survivors].filter((line) => !known.has(line))
  if (unknown.length > 0) {
    throw new OperatorError(
      `${unknown.length} mutants survive without a reason. Test what they change, or say in ${list} why not:\n${unknown.join('\n')}`,
    )
  }
  console.log(`Each of the ${survivors.size} kinds of survivors has its reason in ${list}.`)
}

await runProgram(main)
