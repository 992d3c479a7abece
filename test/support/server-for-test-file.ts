import { beforeAll } from 'vitest'

import { dataDirectory, startServer, strictCheckout, type RunningServer } from './server.ts'

/**
 * Starts a server with a separate database for the test file that calls this.
 *
 * @param checkout The folder with the built server, by default that with React's development version.
 */
export function serverForTestFile(checkout = strictCheckout()): { readonly origin: string } {
  let server: RunningServer | undefined
  beforeAll(async () => {
    const directory = await dataDirectory()
    server = await startServer({ DATA_DIR: directory.path }, checkout)
  })
  return {
    get origin() {
      if (server === undefined)
        throw new Error('The server has not started yet. Use it in a test or a hook of the test file.')
      return server.origin
    },
  }
}
