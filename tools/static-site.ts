import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

import { pageFile } from '../src/application/page-words.ts'
import type { ApplyData } from '../src/pages/apply/apply-data.ts'
import packageJson from '../package.json' with { type: 'json' }
import type { DeskData } from '../src/pages/desk/desk-data.ts'
import { nextFolder } from './in-place.ts'
import { robots } from '../src/pages/robots.ts'
import { assetCaching, deskHeaders, documentHeaders, linkedHeaders } from '../src/pages/headers.ts'
import { lookOf } from '../src/pages/look.ts'
import type { WithdrawData } from '../src/pages/withdraw/withdraw-data.ts'
import { readPageFile, type PageSettings } from '../src/settings/build-settings.ts'

/** The data of the static form page. */
function staticApplyData({ backendUrl, anonKey, webhookUrl }: PageSettings): Omit<ApplyData, 'privacyLabel'> {
  return { backend: { url: backendUrl, anonKey, webhookUrl }, takesNativePosts: false, outcome: null }
}

/** The data of the static desk. */
function staticDeskData({ backendUrl, anonKey, look }: PageSettings): Omit<DeskData, 'title'> {
  return {
    backend: { url: backendUrl, anonKey },
    isSignInElsewhere: false,
    version: packageJson.version,
    operator: look,
  }
}

/** The data of a static page to which applicants' own links lead. */
function staticLinkedData({ backendUrl, anonKey }: PageSettings): WithdrawData {
  return { backend: { url: backendUrl, anonKey } }
}

/** The folders of a build: `build` has the renderers, and `dist` is the site. By default they are those that the build writes. */
interface Folders {
  build: string
  dist: string
}

const nextFolders: Folders = { build: nextFolder('build'), dist: nextFolder('dist') }

/** Writes the documents and the headers of the static site into `dist/`, which has the assets already. */
export async function writeStaticSite(
  settings: PageSettings,
  { build, dist }: Folders = nextFolders,
): Promise<void> {
  const importBuilt = async <Module>(page: string) =>
    (await import(pathToFileURL(resolve(build, `${page}.js`)).href)) as Module
  const { renderApply } = await importBuilt<typeof import('../src/pages/apply/render.tsx')>('apply')
  const { renderDesk } = await importBuilt<typeof import('../src/pages/desk/render.tsx')>('desk')
  const { renderAnswer } = await importBuilt<typeof import('../src/pages/answer/render.tsx')>('answer')
  const { renderWithdraw } = await importBuilt<typeof import('../src/pages/withdraw/render.tsx')>('withdraw')
  const { siteUrl } = settings
  const look = lookOf(settings.look, readPageFile(await readFile(pageFile, 'utf8').catch(ifMissing)))
  const apply = renderApply(staticApplyData(settings), { siteUrl, look, policyInDocument: true })
  const desk = renderDesk(staticDeskData(settings), { look, root: '../', policyInDocument: true })
  const answer = renderAnswer(staticLinkedData(settings), { look, policyInDocument: true })
  const withdraw = renderWithdraw(staticLinkedData(settings), { look, policyInDocument: true })
  await writeFile(join(dist, 'index.html'), apply.html)
  for (const [folder, { html }] of Object.entries({ desk, answer, withdraw })) {
    await mkdir(join(dist, folder), { recursive: true })
    await writeFile(join(dist, folder, 'index.html'), html)
  }
  const { renderMissing } = await importBuilt<typeof import('../src/pages/missing/render.tsx')>('missing')
  // Static hosts send this page for missing addresses of any depth, so the form's address is that of the whole site.
  await writeFile(join(dist, '404.html'), renderMissing(new URL(siteUrl ?? 'https://example.org').pathname))
  await writeFile(join(dist, '_redirects'), redirects)
  await writeFile(join(dist, 'robots.txt'), robots)
  const policies = {
    apply: apply.policy,
    desk: desk.policy,
    answer: answer.policy,
    withdraw: withdraw.policy,
  }
  await writeFile(join(dist, '_headers'), headersFile(policies))
}

/** Nothing in place of a file that does not exist. */
function ifMissing(error: unknown) {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
  throw error
}

/** Writes the compressed copies that are missing beside the text files. Static hosts and our own server send these copies. */
export async function compressSite({ dist }: Pick<Folders, 'dist'> = nextFolders): Promise<void> {
  const files = await readdir(dist, { recursive: true })
  const texts = files.filter((file) => /\.(js|css|html|svg)$/.test(file) && !files.includes(`${file}.br`))
  await Promise.all(texts.map((file) => compress(join(dist, file))))
}

/** Links that a mail program changed lead to their page, which reads what came in the path. */
const redirects = ['desk', 'answer', 'withdraw'].map((page) => `/${page}/* /${page}/ 200\n`).join('')

/** A host sends the headers of every rule that matches, so each document's policy has a separate rule. */
function headersFile(policies: Record<'apply' | 'desk' | 'answer' | 'withdraw', string>) {
  const rule = (address: string, headers: Record<string, string>) =>
    [address, ...Object.entries(headers).map(([name, value]) => `  ${name}: ${value}`), ''].join('\n')
  const policyOf = (policy: string) => {
    const { 'content-security-policy': whole = '' } = documentHeaders(policy)
    return { 'content-security-policy': whole }
  }
  const { 'content-security-policy': _, ...common } = documentHeaders('')
  return [
    rule('/*', common),
    rule('/', policyOf(policies.apply)),
    rule('/index.html', policyOf(policies.apply)),
    rule('/desk', { ...policyOf(policies.desk), ...deskHeaders }),
    rule('/desk/*', { ...policyOf(policies.desk), ...deskHeaders }),
    rule('/answer', { ...policyOf(policies.answer), ...linkedHeaders }),
    rule('/answer/*', { ...policyOf(policies.answer), ...linkedHeaders }),
    rule('/withdraw', { ...policyOf(policies.withdraw), ...linkedHeaders }),
    rule('/withdraw/*', { ...policyOf(policies.withdraw), ...linkedHeaders }),
    rule('/assets/*', { 'cache-control': assetCaching }),
  ].join('')
}

/**
 * Values of NPOSTFIX and NDIRECT for Brotli (RFC 7932, section 4). Which of them gives the smallest file is chance, and they differ
 * by some hundred bytes.
 */
const distanceParameters = [
  [0, 0],
  [0, 8],
  [1, 6],
  [1, 10],
] as const

async function compress(file: string) {
  const content = await readFile(file)
  const compressed = await Promise.all(
    distanceParameters.map(async ([postfix, direct]) =>
      promisify(brotliCompress)(content, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: 11,
          [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
          [constants.BROTLI_PARAM_NPOSTFIX]: postfix,
          [constants.BROTLI_PARAM_NDIRECT]: direct,
        },
      }),
    ),
  )
  const [smallest = ''] = compressed.toSorted((one, other) => one.length - other.length)
  await writeFile(`${file}.br`, smallest)
  await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }))
}
