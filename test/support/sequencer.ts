import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The groups of files in the order in which they begin, as patterns of the tier and the path. */
const order = [
  // These wait long for timeouts, restarts or packages, and use little processor time. Other files run meanwhile.
  /\/(?:failures\/(?:backups-unresponsive|database-frozen)|deployment\/(?:failover|image))\.test\.ts$/,
  // These need no build, so that the sources are built meanwhile. The file with the most tests begins.
  /\/test\/screens\/acts\.test\.ts$/,
  // Screens come before other files with modules of the desk, which would load these without a window.
  /\/test\/screens\//,
  /^database /,
  // For each other tier, a worker is started again.
  /^browser /,
  /^deployment /,
  /^slow /,
  // This file waits for seconds, before files that are so short that all workers end at about the same time.
  /\/client\/session\.test\.ts$/,
  /^unit /,
]

/** Runs files that wait first, and then one tier after another. */
export class FilesInOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- Vitest's own order
    const sorted = await super.sort(files)
    const rank = ({ moduleId, project }: TestSpecification) =>
      order.findIndex((pattern) => pattern.test(`${project.name} ${moduleId}`))
    return sorted.toSorted((a, b) => rank(a) - rank(b))
  }
}
