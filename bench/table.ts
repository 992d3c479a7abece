import { cpus, totalmem } from 'node:os'

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const [low = 0, high = 0] =
    sorted.length % 2 === 1 ? [sorted[middle], sorted[middle]] : sorted.slice(middle - 1)
  return (low + high) / 2
}

/** The median of the ratios in each round. The machine's speed drifts, so values of different rounds are not compared. */
export function ratio(values: readonly number[], base: readonly number[]): string {
  return median(values.map((value, round) => value / (base[round] ?? Number.NaN))).toFixed(2)
}

/** The median, with the minimum and the maximum in brackets. */
export function spread(values: readonly number[], digits = 0): string {
  const show = (value: number) => value.toLocaleString('en', { maximumFractionDigits: digits })
  return `${show(median(values))} (${show(Math.min(...values))}-${show(Math.max(...values))})`
}

/** Checks a promise of the docs. If it was broken, prints a message and sets the exit code 1. */
export function checkGuarantee(what: string, isKept: boolean): void {
  if (isKept) return
  console.error(`Promise broken: ${what}`)
  process.exitCode = 1
}

/** Prints a table in Markdown. */
export function printTable(
  title: string,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  const widths = head.map((cell, column) =>
    Math.max(cell.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  console.log(`\n### ${title}\n`)
  console.log(line(head))
  console.log(line(widths.map((width) => '-'.repeat(width))))
  for (const row of rows) console.log(line(row))
}

/** Describes the machine that gave the figures. */
export function describeMachine(): string {
  const [cpu] = cpus()
  const memory = Math.round(totalmem() / 2 ** 30)
  return `${cpus().length} x ${cpu?.model.trim()}, ${memory} GiB, ${process.platform} ${process.arch}, Node.js ${process.version}`
}
