import { applications } from './breaks/applications.ts'
import type { Break } from './breaks/break.ts'
import { browser } from './breaks/browser.ts'
import { letters } from './breaks/letters.ts'
import { organisers } from './breaks/organisers.ts'
import { schema } from './breaks/schema.ts'
import { server } from './breaks/server.ts'

/** At least one break for each promise of docs/security.md, and breaks of the schema's rules. */
export const breaks: readonly Break[] = [
  ...applications,
  ...organisers,
  ...letters,
  ...browser,
  ...server,
  ...schema,
]
