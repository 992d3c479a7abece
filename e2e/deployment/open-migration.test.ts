import { execFile } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

import { temporaryDirectory } from '../../testing/server.ts'
import { copyCheckout } from '../../testing/static-site.ts'
import { freezeMigrations } from '../../tools/released-migrations.ts'

test('between releases one file holds what changes: steps by hand, which stay, and functions as they are declared', async () => {
  const checkout = await copyCheckout(join((await temporaryDirectory()).path, 'copy'))
  // As after a release: none is open.
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

  await declare('13_receipts.sql', "now() - interval '1 day';", "now() - interval '2 days';")
  expect((await schema()).stdout).toContain('-- For supabase/migrations:\n\n-- The functions that changed.')
  expect(await readdir(folder)).toEqual(released)
  await schema('a', 'few', 'words')
  const [file = '', ...others] = (await readdir(folder)).filter((name) => !released.includes(name))
  expect([file, others]).toEqual([expect.stringMatching(/^\d{14}_a_few_words\.sql$/), []])
  const read = () => readFile(join(folder, file), 'utf8')
  const written = await read()
  expect(written).toMatch(
    /^-- The functions that changed\. .*\n[^]*create or replace function private\.receipts_since\(\)/,
  )

  const byHand = 'alter table private.door add column reason text;\n\n'
  await writeFile(join(folder, file), byHand + written)
  await declare('08_door.sql', 'create table private.door (', 'create table private.door (\n  reason text,')
  await declare('13_receipts.sql', "now() - interval '2 days';", "now() - interval '3 days';")
  await schema()
  const again = await read()
  expect(again.startsWith(byHand)).toBe(true)
  expect(again.match(/function private\.receipts_since\(\)/g)).toHaveLength(1)
  expect(again).toContain("interval '3 days'")
  expect(await readdir(folder)).toEqual([...released, file])
})
