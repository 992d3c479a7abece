import { execFile } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

import { temporaryDirectory } from '../support/server.ts'
import { copyCheckout } from '../support/static-site.ts'
import { freezeMigrations } from '../../tools/released-migrations.ts'

test('`npm run schema` writes the changed functions into the one open migration, and keeps the statements written by hand', async () => {
  const checkout = await copyCheckout(join((await temporaryDirectory()).path, 'copy'))
  // Freezes the migrations as a release does, so that none is open.
  await freezeMigrations(checkout)
  const schema = (...words: string[]) =>
    promisify(execFile)('npm', ['run', '--silent', 'schema', '--', ...words], { cwd: checkout })
  const folder = join(checkout, 'supabase/migrations')
  const released = await readdir(folder)
  const declare = async (file: string, text: string, replacement: string) => {
    const path = join(checkout, 'supabase/schemas', file)
    const declared = await readFile(path, 'utf8')
    expect(declared).toContain(text)
    await writeFile(path, declared.replace(text, replacement))
  }

  await declare('23_mails.sql', 'postman.in_hour < 100', 'postman.in_hour < 200')
  expect((await schema()).stdout).toContain('-- For supabase/migrations:\n\n-- The functions that changed.')
  expect(await readdir(folder)).toEqual(released)
  await schema('a', 'few', 'words')
  const [file = '', ...others] = (await readdir(folder)).filter((name) => !released.includes(name))
  expect([file, others]).toEqual([expect.stringMatching(/^\d{14}_a_few_words\.sql$/), []])
  const read = () => readFile(join(folder, file), 'utf8')
  const migrationText = await read()
  expect(migrationText).toMatch(
    /^-- The functions that changed\. .*\n[^]*create or replace function private\.has_room\(/,
  )

  const byHand = 'alter table private.door add column reason text;\n\n'
  await writeFile(join(folder, file), byHand + migrationText)
  await declare('08_door.sql', 'create table private.door (', 'create table private.door (\n  reason text,')
  await declare('23_mails.sql', 'postman.in_hour < 200', 'postman.in_hour < 300')
  await schema()
  const rewritten = await read()
  expect(rewritten.startsWith(byHand)).toBe(true)
  expect(rewritten.match(/function private\.has_room\(/g)).toHaveLength(1)
  expect(rewritten).toContain('in_hour < 300')
  expect(await readdir(folder)).toEqual([...released, file])
})
