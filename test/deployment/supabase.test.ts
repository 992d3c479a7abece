import { execFile } from 'node:child_process'
import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

import { send } from '../support/send-application.ts'
import { anApplication } from '../support/form.ts'
import { newProject } from '../support/hosted-project.ts'
import { startPostgres } from '../support/postgres.ts'
import { startServer, temporaryDirectory } from '../support/server.ts'
import { connectTo } from '../support/sql.ts'

/** The version that docs/hosted.md names, because earlier versions have other options. */
const cli = 'supabase@3.1.0'

test('"supabase db push" gives a new project its schema, and finds it up to date after our server has run', async () => {
  const database = await startPostgres()
  const directory = await temporaryDirectory()
  const { url, end } = await newProject(database)
  await cp('supabase', join(directory.path, 'supabase'), { recursive: true })
  const run = async (...command: string[]) => {
    const { stdout } = await promisify(execFile)(
      'npm',
      ['exec', '--yes', '--package', cli, '--', 'supabase', ...command, `--remote=${url}?sslmode=disable`],
      { cwd: directory.path },
    )
    return stdout
  }
  await run('db', 'push', '--yes')

  // Our server runs on the same database without changing its schema, so the CLI still finds it up to date.
  const server = await startServer({ DATABASE_URL: url })
  expect(await send(server.origin, anApplication())).toBe(201)
  // The server would report a migration as edited if the project had applied another text.
  expect(server.output()).not.toContain('edited')
  await server.stop()
  expect(await run('db', 'push', '--yes')).toMatch(/up to date/i)

  // A migration that begins as `npm run schema` begins one gives up on a lock, so nobody waits behind it.
  await writeFile(
    join(directory.path, 'supabase/migrations/29990101000000_a_column.sql'),
    `set local lock_timeout = '1s';\nalter table public.retreat_applications add column probe text;\n`,
  )
  const reader = connectTo(url, 1)
  await reader.begin(async (transaction) => {
    await transaction`select from public.retreat_applications`
    await expect(run('db', 'push', '--yes')).rejects.toThrow('lock timeout')
  })
  await reader.end()
  expect(await run('db', 'push', '--yes')).not.toMatch(/up to date/i)
  await end()
})
