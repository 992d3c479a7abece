/**
 * The last day on which each major version of Node.js gets security releases. Newer versions than these are unknown.
 *
 * @see https://github.com/nodejs/Release/blob/main/schedule.json
 */
const lastDays: Readonly<Record<string, string>> = {
  20: '2026-04-30',
  21: '2024-06-01',
  22: '2027-04-30',
  23: '2025-06-01',
  24: '2028-04-30',
  25: '2026-06-01',
  26: '2029-04-30',
}

/** The running version of Node.js, and how long it gets security releases. */
export interface Runtime {
  /** For example `24.21.0`. */
  version: string
  /** The last day with security releases, such as `2028-04-30`; undefined if it is unknown. */
  lastDay: string | undefined
  /** A sentence with advice if the security releases have ended; otherwise undefined. */
  problem: string | undefined
}

/** Checks whether this Node.js still gets security releases. */
export function checkSupport(version = process.versions.node, now = new Date()): Runtime {
  const lastDay = lastDays[Number.parseInt(version, 10)]
  const isOver = lastDay !== undefined && now.toISOString().slice(0, 10) > lastDay
  const problem = isOver
    ? `Node.js ${version} has had no security releases since ${lastDay}: install the long-term version that https://nodejs.org names, which this program runs on.`
    : undefined
  return { version, lastDay, problem }
}
