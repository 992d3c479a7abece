import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that wait for time limits, restarts or packages for a long time, and leave the processors to others. */
const waiting = [
  '/failures/backups-silent.test.ts',
  '/failures/frozen.test.ts',
  '/deployment/failover.test.ts',
  '/deployment/image.test.ts',
]

/** Begins with the files that mostly wait. Begun last, they would keep a run waiting when nothing else is left to do. */
export class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- Vitest's own order
    const sorted = await super.sort(files)
    const waits = ({ moduleId }: TestSpecification) => waiting.some((file) => moduleId.endsWith(file))
    return [...sorted.filter(waits), ...sorted.filter((file) => !waits(file))]
  }
}
