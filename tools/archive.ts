/**
 * Makes the release archive: `npm run archive`, or `npm run archive -- <folder>` for another folder than `release`. Beside it are
 * its checksum and the list of its packages. It builds in this checkout and deletes the scripts of earlier builds, so no server
 * may run from it.
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

const copied = [
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

/** The part of a CycloneDX list that this file reads. */
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

/** The archive's package.json: the packages that are installed beside the build, and the commands. */
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
    dependencies: Object.fromEntries(installedBeside.map((beside) => [beside, dependencies[beside]])),
    optionalDependencies,
    engines,
    allowScripts,
  }
}

/** Writes package.json and its lock. Gives the packages of that lock. */
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
 * npm's list of all packages of the checkout, reduced to those that the archive contains or installs. `--omit=dev` would also
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
  for (const name of copied) await cp(name, join(stage, name), { recursive: true, filter: isCopied })
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
