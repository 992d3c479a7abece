import { execFile } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

import { temporaryDirectory } from '../support/server.ts'
import { copyCheckout } from '../support/static-site.ts'
import { freezeMigrations } from '../../tools/released-migrations.ts'

test('`npm run schema` writes the changed functions into the last migration, and begins another that is written by hand before it', async () => {
  const checkout = await copyCheckout(join((await temporaryDirectory()).path, 'copy'))
  // Freezes the migrations as a release does, so that no function differs from them.
  await freezeMigrations(checkout)
  const schema = (...words: string[]) =>
    promisify(execFile)('npm', ['run', '--silent', 'schema', '--', ...words], { cwd: checkout })
  const folder = join(checkout, 'supabase/migrations')
  const released = await readdir(folder)
  const written = async () => (await readdir(folder)).filter((name) => !released.includes(name))
  const declare = async (file: string, text: string, replacement: string) => {
    const path = join(checkout, 'supabase/schemas', file)
    const declared = await readFile(path, 'utf8')
    expect(declared).toContain(text)
    await writeFile(path, declared.replace(text, replacement))
  }

  await declare('letters/mail-queue.sql', 'postman.in_hour < 100', 'postman.in_hour < 200')
  await schema()
  const [functions = '', ...others] = await written()
  expect([functions, others]).toEqual([expect.stringMatching(/^\d{14}_functions\.sql$/), []])
  expect(await readFile(join(folder, functions), 'utf8')).toMatch(
    /^-- The functions that changed since .*\n\n(?:--.*\n)*create or replace function private\.is_below_hourly_limit\([^]*in_hour < 200 [^]*\n\$\$;\n$/,
  )
  await schema()
  expect(await written()).toEqual([functions])

  await schema('a', 'few', 'words')
  const [byHand = '', moved = ''] = await written()
  expect([byHand, moved]).toEqual([
    expect.stringMatching(/^\d{14}_a_few_words\.sql$/),
    expect.stringMatching(/^\d{14}_functions\.sql$/),
  ])
  const text = await readFile(join(folder, byHand), 'utf8')
  expect(text).toBe("set local lock_timeout = '1s';\n")
  await writeFile(join(folder, byHand), `${text}alter table private.door add column reason text;\n`)
  await declare(
    'retreat/tables.sql',
    'create table private.door (',
    'create table private.door (\n  reason text,',
  )
  await declare('letters/mail-queue.sql', 'postman.in_hour < 200', 'postman.in_hour < 100')
  // The column is not at its declared place, which the command names.
  expect((await schema()).stderr).toContain('the column reason of private.door')
  expect(await written()).toEqual([byHand])
})
