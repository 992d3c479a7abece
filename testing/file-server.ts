import { afterAll, beforeAll } from 'vitest'

import { dataDirectory, startServer, type RunningServer } from './server.ts'

/** Starts a server on a database of its own for the test file that calls this, and stops it after its tests. */
export function serverOfThisFile(): { readonly origin: string } {
  let server: RunningServer | undefined
  let remove: (() => Promise<void>) | undefined
  beforeAll(async () => {
    const directory = await dataDirectory()
    remove = () => directory.remove()
    server = await startServer({ DATA_DIR: directory.path })
  })
  afterAll(async () => {
    await server?.stop()
    await remove?.()
  })
  return {
    get origin() {
      if (server === undefined) throw new Error('The server is there from the first test on.')
      return server.origin
    },
  }
}
