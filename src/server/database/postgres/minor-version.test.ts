import { expect, test } from 'vitest'

import { startPostgres } from '../../../../test/support/postgres.ts'
import { connectTo } from '../../../../test/support/sql.ts'
import { rebuildForMinorVersion } from './minor-version.ts'
import { migrate } from '../schema/migrate.ts'

test('if indexes cannot be rebuilt for another minor version, a message says so and the next start rebuilds them', async () => {
  const server = await startPostgres()
  const start = async () => {
    const messages: string[] = []
    const sql = connectTo(server.url())
    await rebuildForMinorVersion(sql, (message) => messages.push(message))
    await sql.end()
    return messages
  }
  await migrate(server.admin)
  await server.admin.unsafe(`alter database postgres set unplugged.postgres_version = '18.1'`)
  const redefine = (body: string) =>
    server.admin.unsafe(`
      create or replace function public.echo(given integer) returns integer
        language plpgsql immutable as $$ begin ${body} end $$`)
  await redefine('return given;')
  await server.admin.unsafe(`
    create table public.guests (id integer);
    insert into public.guests values (1);
    create index on public.guests (public.echo(id))`)
  await redefine(`raise exception 'no room';`)
  expect(await start()).toEqual([
    expect.stringMatching(/^PostgreSQL is 18\.\d+, and was 18\.1 before: rebuilding all indexes$/),
    expect.stringMatching(/^the indexes could not be rebuilt .* the next start tries again: no room$/),
  ])
  await redefine('return given;')
  expect((await start()).at(-1)).toBe('all indexes are rebuilt')
  expect(await start()).toEqual([])
})
