import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that wait long for timeouts, restarts or packages, and use little processor time. */
const longWaits = [
  '/failures/backups-unresponsive.test.ts',
  '/failures/frozen.test.ts',
  '/deployment/failover.test.ts',
  '/deployment/image.test.ts',
]

/** Runs the files first that mostly wait, so that other files run meanwhile. */
export class LongWaitsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- Vitest's own order
    const sorted = await super.sort(files)
    const hasLongWaits = ({ moduleId }: TestSpecification) =>
      longWaits.some((file) => moduleId.endsWith(file))
    return [...sorted.filter(hasLongWaits), ...sorted.filter((file) => !hasLongWaits(file))]
  }
}
