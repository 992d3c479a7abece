import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { loadEnv } from 'vite'

import type { PageData } from './src/page/render.tsx'

/** What the static page is rendered from: the `VITE_` settings, which were checked. */
export function staticPageData(environment: Record<string, string | undefined>): PageData {
  const url = (name: string) => {
    const given = environment[name]
    if (!given) return null
    if (URL.canParse(given) && /^https?:/.test(given)) return given
    throw new Error(`${name} is "${given}" but should be an address that begins with https:// or http://.`)
  }
  return {
    backend: {
      url: url('VITE_SUPABASE_URL'),
      anonKey: environment['VITE_SUPABASE_ANON_KEY'] || 'public-anon-key',
      webhookUrl: url('VITE_WEBHOOK_URL'),
    },
    takesNativePosts: false,
    outcome: null,
  }
}

/**
 * Completes a build: writes the static site's document and headers into `dist/`, and beside each of its
 * files the compressed copies that static hosts and our own server send.
 */
export async function writeStaticSite(mode: string): Promise<void> {
  const environment = loadEnv(mode, process.cwd(), 'VITE_')
  const built = new URL('./build/render.js', `file://${process.cwd()}/`).href
  const { renderDocument } = (await import(built)) as typeof import('./src/page/render.tsx')
  const { html, policy } = renderDocument(staticPageData(environment), {
    siteUrl: environment['VITE_SITE_URL'] || undefined,
    policyInDocument: true,
  })
  await writeFile('dist/index.html', html)
  await writeFile('dist/_headers', headersFile(policy))
  const files = await readdir('dist', { recursive: true })
  await Promise.all(
    files.filter((file) => /\.(js|css|html|svg)$/.test(file)).map((file) => compress(join('dist', file))),
  )
}

function headersFile(policy: string) {
  const headers = {
    'Content-Security-Policy': `${policy}; frame-ancestors 'none'`,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  }
  const lines = Object.entries(headers).map(([name, value]) => `  ${name}: ${value}`)
  return `/*\n${lines.join('\n')}\n/assets/*\n  Cache-Control: public, max-age=31536000, immutable\n`
}

async function compress(file: string) {
  const content = await readFile(file)
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length }
  await writeFile(`${file}.br`, await promisify(brotliCompress)(content, { params }))
  await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }))
}
