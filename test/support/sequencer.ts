import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that wait long for timeouts, restarts or packages, and use little processor time; and the file with the most tests. */
const longest = [
  '/failures/backups-unresponsive.test.ts',
  '/failures/frozen.test.ts',
  '/deployment/failover.test.ts',
  '/deployment/image.test.ts',
  '/screens/acts.test.ts',
]

/** Runs the longest files first, so that other files run meanwhile. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- Vitest's own order
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) => longest.some((file) => moduleId.endsWith(file))
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}
