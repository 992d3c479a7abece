import { readFileSync } from 'node:fs'

import { ensureChromium, launchChromium } from '../test/support/browser.ts'
import { dataDirectory, startServer } from '../test/support/server.ts'
import { measureVisit, serveDocument } from './visit-cost.ts'
import { printTable, ratio, spread } from './table.ts'

const rounds = 25

/** Functions that remove one part of the document. */
const without: Record<string, (html: string) => string> = {
  'without the icon in the document': (html) =>
    html
      .replace(/<link rel="icon"[^>]*svg[^>]*>/, '')
      .replace(/<link rel="icon"[^>]*>/, '<link rel="icon" href="data:,">'),
  'without the names of fonts': (html) =>
    html.replace(/--display:[^;}]*/, '--display:serif').replace(/--text:[^;}]*/, '--text:sans-serif'),
  'without shadow and gradients': (html) =>
    html
      .replaceAll(/box-shadow:[^;}]*/g, '')
      .replaceAll(/(linear|radial)-gradient\((?:[^()]|\([^()]*\))*\)/g, 'none'),
  'without the drawings': (html) => html.replaceAll(/<svg.*?<\/svg>/gs, ''),
  'without the inline script': (html) => html.replaceAll(/<script data-page.*?<\/script>/gs, ''),
  'without transitions and animations': (html) => html.replaceAll(/(transition|animation):[^;}]*/g, ''),
  'without any style': (html) => html.replaceAll(/<style>.*?<\/style>/gs, ''),
}

/** Measures how much each part of the document delays the first paint, by leaving out one part at a time. */
export async function benchParts(): Promise<void> {
  const directory = await dataDirectory()
  const server = await startServer({ DATA_DIR: directory.path })
  const response = await fetch(server.origin)
  const html = await response.text()
  const names = [
    'content-security-policy',
    'referrer-policy',
    'cross-origin-resource-policy',
    'x-content-type-options',
  ]
  const headers = Object.fromEntries(names.map((name) => [name, response.headers.get(name) ?? '']))
  const documents = {
    'a hand-written page (the floor)': await serveDocument(readFileSync('bench/floor/index.html', 'utf8')),
    'the page, by our server': { url: server.origin, close: () => undefined },
    'the same, by a bare server': await serveDocument(html, headers),
    'the same, without its headers': await serveDocument(html),
    ...Object.fromEntries(
      await Promise.all(
        Object.entries(without).map(async ([name, leaveOut]) => {
          const rest = leaveOut(html)
          if (rest === html) throw new Error(`Nothing was left out: ${name}`)
          return [name, await serveDocument(rest)] as const
        }),
      ),
    ),
  }
  const browser = await launchChromium(ensureChromium())
  const paints = new Map(Object.keys(documents).map((name) => [name, [] as number[]]))
  const sizes = new Map<string, number>()
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, { url }] of Object.entries(documents)) {
      const { firstPaint, bytes } = await measureVisit(browser, url)
      sizes.set(name, bytes)
      // The first round is a warm-up.
      if (round > 0) paints.get(name)?.push(firstPaint)
    }
  }
  await browser.close()
  const floor = paints.get('a hand-written page (the floor)') ?? []
  printTable(
    `First paint on a slow phone, with one part left out at a time (${rounds} rounds, in turns)`,
    ['', 'bytes', 'first paint, ms', 'ratio to the floor'],
    [...paints].map(([name, all]) => [name, String(sizes.get(name)), spread(all), ratio(all, floor)]),
  )
  for (const { close } of Object.values(documents)) close()
  await server.stop()
  await directory.remove()
}
