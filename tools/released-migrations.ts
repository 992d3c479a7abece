import { createHash } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The digests of the released migrations, in the format of sha256sum. */
export const releasedList = 'supabase/released.sha256'

const folders = ['supabase/migrations', 'src/server/database/migrations']

/** The digests of a checkout's current migrations, one line each, in order. */
export async function digestsOfMigrations(checkout = '.'): Promise<string[]> {
  const paths = await Promise.all(
    folders.map(async (folder) =>
      (await readdir(join(checkout, folder))).map((name) => ({ name, path: join(folder, name) })),
    ),
  )
  const inOrder = paths.flat().toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return Promise.all(
    inOrder.map(async ({ path }) => {
      const digest = createHash('sha256')
        .update(await readFile(join(checkout, path)))
        .digest('hex')
      return `${digest}  ${path}`
    }),
  )
}

/** Adds a checkout's migrations that no release has yet to its list of released ones. Nobody may edit them afterwards. */
export async function freezeMigrations(checkout = '.'): Promise<void> {
  const path = join(checkout, releasedList)
  const listed = (await readFile(path, 'utf8')).trim().split('\n')
  const unlisted = (await digestsOfMigrations(checkout)).filter((line) => !listed.includes(line))
  await writeFile(path, `${[...listed, ...unlisted].join('\n')}\n`)
}
