const unreleased = /^## Unreleased\n([^]*?)(?=^## |$(?![^]))/m

/** The last released version in the changelog. */
export function lastRelease(changes: string): string {
  return /^## (\d+\.\d+\.\d+) - /m.exec(changes)?.[1] ?? '0.0.0'
}

/** Whether the changelog has an unreleased change. */
export function hasUnreleased(changes: string): boolean {
  return unreleased.exec(changes)?.[1]?.includes('\n- ') ?? false
}

/** Replaces the heading of the unreleased changes by a version and its day, such as 2026-11-25. */
export function release(changes: string, version: string, day: string): string {
  return changes.replace(/^## Unreleased$/m, `## ${version} - ${day}`)
}

/** Adds an empty section for the changes after the last release. */
export function beginUnreleased(changes: string): string {
  return changes.replace(/^## /m, '## Unreleased\n\n## ')
}
