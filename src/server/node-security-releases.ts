import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'

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

/** Distributions that fix their own Node.js after its releases have ended. `lastDay` is the end of the security team's support. */
const distributions: readonly { id: string; name: string; major: number; lastDay: string }[] = [
  // https://wiki.debian.org/DebianReleases
  { id: 'debian 13', name: 'Debian 13', major: 20, lastDay: '2028-08-09' },
]

/**
 * The distribution that built the running Node.js, such as `debian 13`; undefined for the builds of nodejs.org and NodeSource.
 * Distributions keep Node.js in a shared library, and the others do not.
 */
function ownDistribution(): string | undefined {
  const { variables } = process.config as { variables: { node_shared?: boolean } }
  if (variables.node_shared !== true) return undefined
  try {
    const { ID, VERSION_ID } = parseEnv(readFileSync('/etc/os-release', 'utf8'))
    return `${ID} ${VERSION_ID}`
  } catch {
    return undefined
  }
}

/** The running version of Node.js, and how long it gets security releases. */
export interface Runtime {
  /** For example `24.21.0`, or `20.19.2 of Debian 13`. */
  version: string
  /** The last day with security releases, such as `2028-04-30`; undefined if it is unknown. */
  lastDay: string | undefined
  /** A sentence with advice if the security releases have ended; otherwise undefined. */
  problem: string | undefined
}

/** Checks whether this Node.js still gets security releases, from its project or from the distribution that built it. */
export function checkSupport(
  version = process.versions.node,
  now = new Date(),
  distribution = ownDistribution(),
): Runtime {
  const major = Number.parseInt(version, 10)
  const maintainer = distributions.find((one) => one.id === distribution && one.major === major)
  const lastDay = maintainer?.lastDay ?? lastDays[major]
  const isOver = lastDay !== undefined && now.toISOString().slice(0, 10) > lastDay
  const problem = isOver
    ? `Node.js ${version} has had no security releases since ${lastDay}: install the long-term version that https://nodejs.org names, which this program runs on.`
    : undefined
  return { version: maintainer ? `${version} of ${maintainer.name}` : version, lastDay, problem }
}
