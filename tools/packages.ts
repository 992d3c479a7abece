import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Native packages. They are installed beside a build and not bundled into it. */
export const installedBeside = ['@node-rs/bcrypt']

/** A package that a build contains, as Vite lists it. */
export interface BundledPackage {
  name: string
  version: string
  /** Its license's SPDX identifier. */
  identifier?: string
  /** Its license file. */
  text?: string
}

/** The path of a build's package list in the build's folder. */
export function packageListOf(build: string): string {
  return join('licenses', `${build}.json`)
}

/** The packages that the server and the pages contain, without duplicates, sorted by name. */
export async function bundledPackages(): Promise<BundledPackage[]> {
  const lists = await Promise.all(
    ['build', 'dist'].map(async (folder) => {
      const names = await readdir(join(folder, 'licenses'))
      return Promise.all(names.map((name) => readFile(join(folder, 'licenses', name), 'utf8')))
    }),
  )
  const packages = lists.flat().flatMap((list) => JSON.parse(list) as BundledPackage[])
  const byId = new Map(packages.map((bundled) => [idOf(bundled), bundled]))
  return [...byId.values()].toSorted((one, other) => (idOf(one) < idOf(other) ? -1 : 1))
}

/** The name and version of a package in npm's notation. */
export function idOf({ name, version }: BundledPackage): string {
  return `${name}@${version}`
}

/** Makes one page with the licenses of these packages. */
export function licensesPage(packages: readonly BundledPackage[]): string {
  const sections = packages.map(
    (bundled) => `## ${idOf(bundled)} (${bundled.identifier ?? 'no license named'})\n\n${bundled.text ?? ''}`,
  )
  return [
    '# Licenses of the packages in this build\n\n`node_modules` has those of the packages beside it.',
    ...sections.map((section) => section.trimEnd()),
  ]
    .join('\n\n')
    .concat('\n')
}
