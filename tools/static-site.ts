import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

import type { ApplyData } from '../src/pages/apply/apply-data.ts'
import { next } from './in-place.ts'
import { assetCaching, documentHeaders } from '../src/pages/headers.ts'
import type { PageSettings } from '../src/settings/page-settings.ts'

/** What the static page is rendered from. */
export function staticApplyData({ backendUrl, anonKey, webhookUrl }: PageSettings): ApplyData {
  return { backend: { url: backendUrl, anonKey, webhookUrl }, takesNativePosts: false, outcome: null }
}

/** Writes the document and the headers of the static site into `dist/`. */
export async function writeStaticSite(settings: PageSettings): Promise<void> {
  const built = pathToFileURL(resolve(next('build'), 'apply.js')).href
  const { renderApply } = (await import(built)) as typeof import('../src/pages/apply/render.tsx')
  const { html, policy } = renderApply(staticApplyData(settings), {
    siteUrl: settings.siteUrl,
    policyInDocument: true,
  })
  await writeFile(join(next('dist'), 'index.html'), html)
  await writeFile(join(next('dist'), '_headers'), headersFile(policy))
}

/** Writes beside each file in `dist/` the compressed copies that static hosts and our own server send. */
export async function compressSite(): Promise<void> {
  const files = await readdir(next('dist'), { recursive: true })
  const texts = files.filter((file) => /\.(js|css|html|svg)$/.test(file))
  await Promise.all(texts.map((file) => compress(join(next('dist'), file))))
}

function headersFile(policy: string) {
  const lines = Object.entries(documentHeaders(policy)).map(([name, value]) => `  ${name}: ${value}`)
  return `/*\n${lines.join('\n')}\n/assets/*\n  cache-control: ${assetCaching}\n`
}

async function compress(file: string) {
  const content = await readFile(file)
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length }
  await writeFile(`${file}.br`, await promisify(brotliCompress)(content, { params }))
  await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }))
}
