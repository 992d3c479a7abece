import { readFile } from 'node:fs/promises'
import { brotliDecompressSync } from 'node:zlib'

import { startReceiver, type Receiver } from './receiver.ts'

/** The static site that 1.0.0 built. `test/fixtures/1.0.0/README.md` says how. */
const folder = 'test/fixtures/1.0.0/site'
const types: Record<string, string> = { html: 'text/html; charset=utf-8', js: 'text/javascript' }

/**
 * Serves the static site of 1.0.0 as if it had been built with these `VITE_` settings.
 *
 * @param port A port of the loopback address.
 */
export function serveOlderSite(
  settings: { VITE_SUPABASE_URL: string; VITE_SUPABASE_ANON_KEY: string },
  port: number,
): Promise<Receiver> {
  const contentOf = async (path: string) => {
    const text = brotliDecompressSync(await readFile(`${folder}/${path}.br`)).toString()
    return text
      .replaceAll('https://project.supabase.example', settings.VITE_SUPABASE_URL)
      .replaceAll('public-key-of-the-project', settings.VITE_SUPABASE_ANON_KEY)
  }
  return startReceiver(({ url }, response) => {
    const { pathname } = new URL(url, 'http://site')
    const path = pathname.replace(/^\//, '').replace(/(^|\/)$/, '$1index.html')
    contentOf(path).then(
      (text) => response.setHeader('content-type', types[path.split('.').at(-1) ?? ''] ?? '').end(text),
      () => response.writeHead(404).end(),
    )
  }, port)
}
