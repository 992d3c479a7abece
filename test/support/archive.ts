import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { copyCheckout } from './static-site.ts'
import { until } from './until.ts'

const run = promisify(execFile)

/**
 * Makes the release archive from a copy of this checkout. All test files of a run share one archive: the first file that calls
 * this makes it.
 *
 * @returns The path of the archive.
 * @throws {Error} This or the first test file could not make the archive.
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
    const result = await pack(directory).then(
      (archive): Outcome => ({ archive }),
      (error: unknown): Outcome => ({ failure: String(error) }),
    )
    // Other test files read the outcome as soon as its file exists.
    await writeFile(`${outcome}.new`, JSON.stringify(result))
    await rename(`${outcome}.new`, outcome)
  }
  await until('the release archive, which another test file makes', () => existsSync(outcome), packTimeout)
  const { archive, failure } = JSON.parse(await readFile(outcome, 'utf8')) as Outcome
  if (archive === undefined) throw new Error(failure)
  return archive
}

/** The path of the archive, or the reason why there is none. */
interface Outcome {
  archive?: string
  failure?: string
}

/** The timeout for packing, in milliseconds. An idle machine takes a tenth of it. */
const packTimeout = 480_000

async function pack(directory: string) {
  const checkout = await copyCheckout(join(directory, 'checkout'))
  // The machine that makes the archive may have a strict umask.
  await run('sh', ['-c', 'umask 077 && npm run archive -- "$0"', directory], { cwd: checkout })
  const name = (await readdir(directory)).find((file) => file.endsWith('.tgz'))
  if (name === undefined) throw new Error(`there is no archive in ${directory}`)
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
