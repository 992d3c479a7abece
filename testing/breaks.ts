import { applications } from './breaks/applications.ts'
import type { Break } from './breaks/break.ts'
import { browser } from './breaks/browser.ts'
import { letters } from './breaks/letters.ts'
import { organisers } from './breaks/organisers.ts'
import { schema } from './breaks/schema.ts'
import { server } from './breaks/server.ts'

/** One break for each promise of docs/security.md, and for each rule of the schema that a change once broke. */
export const breaks: readonly Break[] = [
  ...applications,
  ...organisers,
  ...letters,
  ...browser,
  ...server,
  ...schema,
]
