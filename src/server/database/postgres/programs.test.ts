import { chmod, chown, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { temporaryDirectory } from '../../../../test/support/server.ts'
import { OperatorError } from '../../../settings/operator-error.ts'
import { bundledPrograms, checkInstalled, supported, versionOf } from './programs.ts'

test('the newest supported PostgreSQL is the version from npm, or a newer minor version', async () => {
  const { version } = JSON.parse(
    await readFile(join(bundledPrograms(), '..', '..', 'package.json'), 'utf8'),
  ) as {
    version: string
  }
  const [major, minor] = version.split('.').map(Number)
  expect(await versionOf(bundledPrograms())).toBe(`${major}.${minor}`)
  expect(supported.major).toBe(major)
  expect(supported.minor).toBeGreaterThanOrEqual(minor ?? 0)
})

// break: open-programs-accepted
test('programs that are missing, open to changes by others, or of another version are refused with the reason', async () => {
  const directory = await temporaryDirectory()
  const programs = join(directory.path, 'bin')
  const expectRefusal = async (because: string) => {
    const error: unknown = await checkInstalled(programs).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(OperatorError)
    expect(String(error)).toContain(`POSTGRES_BIN is "${programs}", ${because}`)
  }
  await expectRefusal(`but ${programs} is not there: `)
  await mkdir(programs, { mode: 0o755 })
  await expectRefusal(`but ${join(programs, 'postgres')} is not there: `)
  for (const name of ['postgres', 'initdb', 'pg_ctl']) {
    await writeFile(join(programs, name), '#!/bin/sh\necho "postgres (PostgreSQL)"\n')
    await chmod(join(programs, name), 0o755)
  }
  const postgres = join(programs, 'postgres')
  const setVersion = (version: string) =>
    writeFile(postgres, `#!/bin/sh\necho "postgres (PostgreSQL) ${version} (Debian ${version}-1)"\n`)
  await setVersion('18.7')
  await checkInstalled(programs)
  for (const path of [programs, join(programs, 'pg_ctl')]) {
    await chmod(path, 0o775)
    await expectRefusal(
      `but others may write to ${path}, and change what it runs: remove their write permission (chmod go-w)`,
    )
    await chmod(path, 0o755)
  }
  await setVersion('19beta1')
  await expectRefusal(`which is PostgreSQL 19, but should be ${supported.major}, `)
  await writeFile(postgres, '#!/bin/sh\nexit 3\n')
  await expectRefusal('whose postgres does not run (3): ')
  if (process.getuid?.() === 0) {
    await chown(join(programs, 'initdb'), 1234, 1234)
    await expectRefusal(`but ${join(programs, 'initdb')} belongs to another user (1234)`)
  }
  await rm(join(programs, 'initdb'))
  await expectRefusal(`but ${join(programs, 'initdb')} is not there: `)
})
