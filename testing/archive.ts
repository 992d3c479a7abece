import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { copyCheckout } from './static-site.ts'
import { until } from './until.ts'

const run = promisify(execFile)

/**
 * Makes the release archive from a copy of this checkout. All files of a test run share one archive, which the first makes.
 *
 * @returns The path of the archive.
 * @throws {Error} The archive could not be made, here or by the file that was first.
 */
export async function packRelease(): Promise<string> {
  const { TEST_RUN = '' } = process.env
  const directory = join(TEST_RUN, 'release')
  const outcome = join(directory, 'outcome.json')
  const isFirst = await mkdir(directory).then(
    () => true,
    (error: unknown) => {
      if (!existsSync(directory)) throw error
      return false
    },
  )
  if (isFirst) {
    const made = await pack(directory).then(
      (archive): Outcome => ({ archive }),
      (error: unknown): Outcome => ({ failure: String(error) }),
    )
    // Others read the file as soon as it exists.
    await writeFile(`${outcome}.new`, JSON.stringify(made))
    await rename(`${outcome}.new`, outcome)
  }
  await until('the release archive of another file', () => existsSync(outcome), longestPack)
  const { archive, failure } = JSON.parse(await readFile(outcome, 'utf8')) as Outcome
  if (archive === undefined) throw new Error(failure)
  return archive
}

/** The path of the archive, or the reason why there is none. */
interface Outcome {
  archive?: string
  failure?: string
}

/** In milliseconds. An idle machine takes a tenth of this time. */
const longestPack = 480_000

async function pack(directory: string) {
  const checkout = await copyCheckout(join(directory, 'checkout'))
  await run('npm', ['run', 'archive', '--', directory], { cwd: checkout })
  const name = (await readdir(directory)).find((file) => file.endsWith('.tgz'))
  if (name === undefined) throw new Error(`no archive was left in ${directory}`)
  return join(directory, name)
}

/** Unpacks the release archive into a directory. Creates the directory if needed, and overwrites its files. */
export async function unpackRelease(archive: string, directory: string): Promise<void> {
  await mkdir(directory, { recursive: true })
  await run('tar', ['xzf', archive, '--strip-components=1', '-C', directory])
}

/** The size of a file or a folder on disk, in megabytes. */
export async function sizeOf(path: string): Promise<number> {
  const { stdout } = await run('du', ['-sk', path])
  return Number.parseInt(stdout, 10) / 1000
}
