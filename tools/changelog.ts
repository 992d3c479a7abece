const unreleased = /^## Unreleased\n([^]*?)(?=^## |$(?![^]))/m

/** The version that was released last, as the changes have it. */
export function lastRelease(changes: string): string {
  return /^## (\d+\.\d+\.\d+) - /m.exec(changes)?.[1] ?? '0.0.0'
}

/** Whether there is a change that no version has. */
export function hasUnreleased(changes: string): boolean {
  return unreleased.exec(changes)?.[1]?.includes('\n- ') ?? false
}

/** Gives the changes that no version has to a version, which is released on a day (as 2026-11-25). */
export function release(changes: string, version: string, day: string): string {
  return changes.replace(/^## Unreleased$/m, `## ${version} - ${day}`)
}

/** Makes a place for the changes after the last release. */
export function beginUnreleased(changes: string): string {
  return changes.replace(/^## /m, '## Unreleased\n\n## ')
}
