/**
 * Makes the release archive: `npm run archive`, or `npm run archive -- <folder>` for another folder than `release`. Writes
 * the checksum and the list of packages beside the archive. This builds in the checkout and deletes the scripts of earlier
 * builds, so no server may run from the checkout.
 */
import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { promisify } from 'node:util'

import packageJson from '../package.json' with { type: 'json' }
import { bundledPackages, idOf, installedBeside, licensesPage } from './packages.ts'

const run = promisify(execFile)

const copiedFiles = [
  '.env.example',
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
  'build',
  'deploy',
  'dist',
  'start.js',
]

/** The fields of a CycloneDX list that this file reads. */
interface PackageList {
  metadata: { component: { 'bom-ref': string; name: string } }
  components: { 'bom-ref': string }[]
  dependencies: { ref: string; dependsOn: string[] }[]
}

async function build() {
  await Promise.all(['build', 'dist'].map((folder) => rm(folder, { recursive: true, force: true })))
  const vite = ['node_modules/vite/bin/vite.js', 'build', '--mode', 'self-hosted', '--logLevel', 'warn']
  const [status] = await once(spawn(process.execPath, vite, { stdio: ['ignore', 2, 2] }), 'exit')
  if (status !== 0) throw new Error('The build failed, so there is no archive.')
}

/** Makes the archive's package.json, with the commands, and with the packages that are installed beside the build. */
function manifest() {
  const { name, version, description, license, type, engines, optionalDependencies, allowScripts } =
    packageJson
  const dependencies: Record<string, string> = packageJson.dependencies
  const scripts = Object.entries(packageJson.scripts).filter(([, script]) =>
    script.startsWith('exec node start.js'),
  )
  return {
    name,
    version,
    private: true,
    description,
    license,
    type,
    scripts: Object.fromEntries(scripts),
    dependencies: Object.fromEntries(installedBeside.map((each) => [each, dependencies[each]])),
    optionalDependencies,
    engines,
    allowScripts,
  }
}

/** Writes package.json and its lock. Returns the ids of the packages in the lock. */
async function writeManifest(stage: string) {
  await writeFile(join(stage, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`)
  // npm packs a lock only under this name.
  const lock = join(stage, 'npm-shrinkwrap.json')
  await cp('package-lock.json', lock)
  await run('npm', ['prune', '--package-lock-only', '--offline'], { cwd: stage })
  const { packages } = JSON.parse(await readFile(lock, 'utf8')) as {
    packages: Record<string, { version: string }>
  }
  return Object.entries(packages)
    .filter(([path]) => path !== '')
    .map(([path, { version }]) => idOf({ name: path.replace(/^.*node_modules\//, ''), version }))
}

/**
 * Reads npm's list of the checkout's packages. Keeps those that the archive contains or installs. `--omit=dev` would also
 * leave out packages that the product and a tool share.
 */
async function listPackages(ids: ReadonlySet<string>): Promise<PackageList> {
  const { stdout } = await run(
    'npm',
    ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only'],
    { maxBuffer: 2 ** 26 },
  )
  const list = JSON.parse(stdout) as PackageList
  const { component } = list.metadata
  // npm would take the folder's name.
  component.name = packageJson.name
  const components = list.components.filter((listed) => ids.has(listed['bom-ref']))
  if (components.length !== ids.size) throw new Error('package-lock.json lacks a package of the build.')
  const dependencies = list.dependencies
    .filter(({ ref }) => ref === component['bom-ref'] || ids.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((id) => ids.has(id)) }))
  return { ...list, components, dependencies }
}

async function fill(stage: string) {
  // The archive has one page for all licenses.
  const isCopied = (source: string) => basename(source) !== 'licenses'
  for (const name of copiedFiles) await cp(name, join(stage, name), { recursive: true, filter: isCopied })
  await mkdir(join(stage, 'docs'))
  const docs = (await readdir('docs')).filter((name) => name.endsWith('.md'))
  for (const name of docs) await cp(join('docs', name), join(stage, 'docs', name))

  const bundled = await bundledPackages()
  await writeFile(join(stage, 'THIRD-PARTY-LICENSES.md'), licensesPage(bundled))
  const list = await listPackages(new Set([...bundled.map(idOf), ...(await writeManifest(stage))]))
  await writeFile(join(stage, 'unplugged.cdx.json'), `${JSON.stringify(list, null, 2)}\n`)
}

async function main() {
  const folder = resolve(process.argv[2] ?? 'release')
  await build()
  const stage = await mkdtemp(join(tmpdir(), 'unplugged-archive-'))
  try {
    await fill(stage)
    // A checkout may be readable by its owner alone. The server's user has to read what root unpacks.
    await run('chmod', ['-R', 'u=rwX,go=rX', stage])
    await mkdir(folder, { recursive: true })
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], {
      cwd: stage,
      maxBuffer: 2 ** 26,
    })
    const [{ filename }] = JSON.parse(stdout) as [{ filename: string }]
    const archive = join(folder, filename)
    const checksum = createHash('sha256')
      .update(await readFile(archive))
      .digest('hex')
    await writeFile(`${archive}.sha256`, `${checksum}  ${filename}\n`)
    await cp(join(stage, 'unplugged.cdx.json'), archive.replace(/tgz$/, 'cdx.json'))
    console.log(
      `Made ${archive}, with its checksum (.tgz.sha256) and the list of its packages (.cdx.json) beside it.`,
    )
  } finally {
    await rm(stage, { recursive: true, force: true })
  }
}

await main()
