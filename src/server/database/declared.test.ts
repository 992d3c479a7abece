import { beforeAll, expect, test } from 'vitest'

import { differencesInProject, differencesOn } from '../../../testing/catalogue.ts'
import { startPostgres, type TestPostgres } from '../../../testing/postgres.ts'

let server: TestPostgres

beforeAll(async () => {
  server = await startPostgres()
})

test.each([
  ['a server of our own', () => differencesOn(server)],
  ['a hosted project', () => differencesInProject(server, 'push')],
  ['a server before a hosted project', () => differencesInProject(server, 'server')],
])('the declared schema is what the migrations of %s come to', async (_name, differences) => {
  expect(await differences(), 'Where a migration is missing, npm run schema -- few words writes it.').toEqual(
    [],
  )
})
