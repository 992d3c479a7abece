import { beforeAll } from 'vitest'

import { dataDirectory, startServer, type RunningServer } from './server.ts'

/**
 * Starts a server with a separate database for the test file that calls this.
 */
export function serverForTestFile(): { readonly origin: string } {
  let server: RunningServer | undefined
  beforeAll(async () => {
    const directory = await dataDirectory()
    server = await startServer({ DATA_DIR: directory.path })
  })
  return {
    get origin() {
      if (server === undefined)
        throw new Error('The server has not started yet. Use it in a test or a hook of the test file.')
      return server.origin
    },
  }
}
