import { readFileSync } from 'node:fs'
import { launch } from 'chrome-launcher'
import lighthouse from 'lighthouse'

import { chromiumArguments, ensureChromium, launchChromium } from '../test/support/browser.ts'
import { startServer, temporaryDirectory } from '../test/support/server.ts'
import { connectToEmbedded } from '../test/support/sql.ts'
import { measureVisit, serveDocument, type VisitCost } from './visit-cost.ts'
import { printTable, ratio, spread } from './table.ts'

const rounds = 25
const lighthouseRounds = 25

/** Runs Lighthouse: mobile, with simulated throttling. Times are most accurate if it audits only the performance. */
async function audit(port: number, url: string, only?: 'performance') {
  const flags = { port, output: 'json', logLevel: 'error' } as const
  const result = await lighthouse(url, only ? { ...flags, onlyCategories: [only] } : flags)
  const failure = result ? result.lhr.runtimeError : undefined
  if (!result || failure) throw new Error(`Lighthouse gave no result: ${failure?.message}`)
  const { categories, audits } = result.lhr
  const figure = (name: string) => audits[name]?.numericValue ?? Number.NaN
  return {
    scores: Object.fromEntries(
      Object.entries(categories).map(([name, { score }]) => [name, Math.round((score ?? 0) * 100)]),
    ),
    firstPaint: figure('first-contentful-paint'),
    largestPaint: figure('largest-contentful-paint'),
    blocking: figure('total-blocking-time'),
    shift: figure('cumulative-layout-shift'),
    failed: Object.values(audits)
      .filter(({ score, scoreDisplayMode }) => scoreDisplayMode === 'binary' && score === 0)
      .map(({ id }) => id),
  }
}

type Audit = Awaited<ReturnType<typeof audit>>

interface Side {
  name: string
  url: string
}

/** Measures first visits of a page and, in turns, of its floor, which is the second side. */
async function compareVisits(sides: readonly Side[]) {
  const browser = await launchChromium(ensureChromium())
  const visits = sides.map((): VisitCost[] => [])
  for (let round = 0; round <= rounds; round += 1) {
    for (const [index, { url }] of sides.entries()) {
      const measured = await measureVisit(browser, url)
      // The first round is a warm-up.
      if (round > 0) visits[index]?.push(measured)
    }
  }
  await browser.close()
  const valuesOf = (index: number, figure: keyof VisitCost) =>
    (visits[index] ?? []).map((measured) => measured[figure])
  printTable(
    `First visit in Chromium: 150 ms round trip, 1.6 Mbit/s, 4x CPU (${rounds} rounds, in turns)`,
    ['', 'bytes', 'requests', 'first paint, ms', 'ratio to the floor', 'LCP, ms', 'ratio to the floor'],
    sides.map(({ name }, index) => [
      name,
      spread(valuesOf(index, 'bytes')),
      spread(valuesOf(index, 'requests')),
      spread(valuesOf(index, 'firstPaint')),
      ratio(valuesOf(index, 'firstPaint'), valuesOf(1, 'firstPaint')),
      spread(valuesOf(index, 'largestPaint')),
      ratio(valuesOf(index, 'largestPaint'), valuesOf(1, 'largestPaint')),
    ]),
  )
}

/** Compares a page with all facts and 2,000 characters of paragraphs with the floor and the same elements. */
async function benchWithFacts(floorDocument: string) {
  const directory = await temporaryDirectory()
  const server = await startServer({ DATA_DIR: directory.path })
  const sql = connectToEmbedded(directory.path)
  await sql`update private.editions set starts_on = '2097-06-12', ends_on = '2097-06-15', venue = 'Hof Sonnenau'`
  await sql`update private.door set closes_at = '2097-05-01 16:00+00'`
  // Words of letters by chance compress no better than prose.
  const words = Array.from({ length: 400 }, (_, index) => ((index * 2_654_435_761) % 46_656).toString(36))
  await sql`
    update private.page set cost = '€450, meals and bed included', hear_back = 'by 1 March',
      about = ${words.join(' ').slice(0, 2_000)}`
  let section: string | undefined
  while (section === undefined) {
    const html = await (await fetch(server.origin)).text()
    section = /<section class="retreat".*?<\/section>/s.exec(html)?.[0]
  }
  const floor = await serveDocument(floorDocument.replace('<form>', `${section}<form>`))
  await compareVisits([
    { name: 'the page with all facts', url: `${server.origin}/` },
    { name: 'a hand-written page with the same', url: floor.url },
  ])
  floor.close()
  await server.stop()
  await directory.remove()
}

/** Measures bytes and paint times of the page, and compares them with a hand-written page without any framework. */
export async function benchPage(): Promise<void> {
  const directory = await temporaryDirectory()
  const server = await startServer({ DATA_DIR: directory.path })
  const floorDocument = readFileSync('bench/floor/index.html', 'utf8')
  const floor = await serveDocument(floorDocument)
  const sides = [
    { name: 'the page', url: `${server.origin}/` },
    { name: 'a hand-written page (the floor)', url: floor.url },
  ]
  await compareVisits(sides)
  await benchWithFacts(floorDocument)

  const chromium = await launch({
    chromePath: ensureChromium(),
    chromeFlags: ['--headless', ...chromiumArguments()],
  })
  const fullAudits: Audit[] = []
  for (const { url } of sides) fullAudits.push(await audit(chromium.port, url))
  const audits = sides.map((): Audit[] => [])
  for (let round = 0; round < lighthouseRounds; round += 1) {
    for (const [index, { url }] of sides.entries()) {
      audits[index]?.push(await audit(chromium.port, url, 'performance'))
    }
  }
  chromium.kill()
  const figures = (index: number, figure: 'firstPaint' | 'largestPaint' | 'blocking' | 'shift') =>
    (audits[index] ?? []).map((result) => result[figure])
  printTable(
    `Lighthouse, mobile, simulated (${lighthouseRounds} rounds, in turns)`,
    [
      '',
      'performance',
      'FCP, ms',
      'ratio to the floor',
      'LCP, ms',
      'ratio to the floor',
      'blocking, ms',
      'CLS',
    ],
    sides.map(({ name }, index) => [
      name,
      spread((audits[index] ?? []).map(({ scores }) => scores['performance'] ?? 0)),
      spread(figures(index, 'firstPaint')),
      ratio(figures(index, 'firstPaint'), figures(1, 'firstPaint')),
      spread(figures(index, 'largestPaint')),
      ratio(figures(index, 'largestPaint'), figures(1, 'largestPaint')),
      spread(figures(index, 'blocking')),
      spread(figures(index, 'shift'), 3),
    ]),
  )
  printTable(
    'Lighthouse, all audits (once)',
    ['', ...Object.keys(fullAudits[0]?.scores ?? {}), 'failed'],
    sides.map(({ name }, index) => [
      name,
      ...Object.values(fullAudits[index]?.scores ?? {}).map(String),
      fullAudits[index]?.failed.join(', ') ?? '',
    ]),
  )

  floor.close()
  await server.stop()
  await directory.remove()
}
