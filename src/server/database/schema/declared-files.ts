import config from '../../../../supabase/config.toml?raw'
import type { Ledger } from './migration-files.ts'

// The build inlines the files. It parses these options without running them, so they have to be literals.
const sharedTexts = import.meta.glob<string>('/supabase/schemas/**/*.sql', {
  query: '?raw',
  import: 'default',
  eager: true,
})
const serverTexts = import.meta.glob<string>('../schemas/*.sql', {
  query: '?raw',
  import: 'default',
  eager: true,
})

/** A file that declares a part of the schema. */
interface DeclaredFile {
  path: string
  text: string
  /** The ledger of the migrations that bring a database to it. */
  ledger: Ledger
}

/** The file that a hosted project lacks, since it has a sign-in of its own. The other files need its schema `auth`. */
export const signInFile = '../schemas/sign_in.sql'

/** The paths of the shared files, in the order of the Supabase CLI: that of `schema_paths`, where each file counts once. */
function sharedPaths(): string[] {
  const [, patterns = ''] = /^schema_paths = \[(.*?)\]/ms.exec(config) ?? []
  const paths = Object.keys(sharedTexts).toSorted()
  return Array.from(patterns.matchAll(/"\.(.*)"/g), ([, pattern = '']) => {
    const expression = pattern.replaceAll('.', String.raw`\.`).replaceAll('*', '[^/]*')
    return paths.filter((path) => new RegExp(`^/supabase${expression}$`).test(path))
  }).flat()
}

const paths = new Set([signInFile, ...sharedPaths(), ...Object.keys(serverTexts)])

/** The files that declare the schema, in the order in which an empty database can run them. */
export const declaredFiles: readonly DeclaredFile[] = Array.from(paths, (path) => {
  const text = sharedTexts[path]
  return text === undefined
    ? { path, text: serverTexts[path] ?? '', ledger: 'server' }
    : { path, text, ledger: 'shared' }
})
