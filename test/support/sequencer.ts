import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that wait long for timeouts, restarts or packages, and use little processor time; and the file with the most tests. */
const longest = [
  '/failures/backups-unresponsive.test.ts',
  '/failures/frozen.test.ts',
  '/deployment/failover.test.ts',
  '/deployment/image.test.ts',
  '/screens/acts.test.ts',
]

/** A file that waits for seconds, in a tier of short files. It begins that tier. */
const longestUnit = '/client/session.test.ts'

/**
 * The tiers in the order in which they begin. A worker is started again for another tier. The first two need no build, so that the
 * sources are built meanwhile. The files of the last are short, so that all workers end at about the same time.
 */
const tiers = ['screens', 'database', 'browser', 'deployment', 'slow', 'unit']

/** Runs the longest files first, so that other files run meanwhile, and then one tier after another. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- Vitest's own order
    const sorted = await super.sort(files)
    const rank = ({ moduleId, project }: TestSpecification) =>
      longest.some((file) => moduleId.endsWith(file))
        ? -1
        : tiers.indexOf(project.name) - (moduleId.endsWith(longestUnit) ? 0.5 : 0)
    return sorted.toSorted((a, b) => rank(a) - rank(b))
  }
}
