import { createHash } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The digests of the migrations that are part of a release, as sha256sum writes them. */
export const releasedList = 'supabase/released.sha256'

const folders = ['supabase/migrations', 'src/server/database/migrations']

/** What the list says of the migrations as they are now, a line each, in their order. */
export async function digestsOfMigrations(): Promise<string[]> {
  const paths = await Promise.all(
    folders.map(async (folder) =>
      (await readdir(folder)).map((name) => ({ name, path: join(folder, name) })),
    ),
  )
  const inOrder = paths.flat().toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return Promise.all(
    inOrder.map(async ({ path }) => {
      const digest = createHash('sha256')
        .update(await readFile(path))
        .digest('hex')
      return `${digest}  ${path}`
    }),
  )
}

/** Adds the open migrations to the list: from then on nobody edits them. */
export async function freezeMigrations(): Promise<void> {
  const listed = (await readFile(releasedList, 'utf8')).trim().split('\n')
  const unlisted = (await digestsOfMigrations()).filter((line) => !listed.includes(line))
  await writeFile(releasedList, `${[...listed, ...unlisted].join('\n')}\n`)
}
