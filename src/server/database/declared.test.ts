import { afterAll, beforeAll, expect, test } from 'vitest'

import { differencesInProject, differencesOn } from '../../../testing/catalogue.ts'
import { startPostgres, type TestPostgres } from '../../../testing/postgres.ts'

let server: TestPostgres

beforeAll(async () => {
  server = await startPostgres()
})

afterAll(() => server.close())

test('the declared schema is what the migrations of a server of our own come to', async () => {
  expect(await differencesOn(server)).toEqual([])
})

test("the declared schema is what a hosted project's migrations come to", async () => {
  expect(await differencesInProject(server, 'push')).toEqual([])
})

test('the declared schema is what the migrations of a server before a hosted project come to', async () => {
  expect(await differencesInProject(server, 'server')).toEqual([])
})
