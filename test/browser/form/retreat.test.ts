import { get } from 'node:http'
import { brotliDecompressSync } from 'node:zlib'
import { expect } from 'vitest'

import { deskForTestFile } from '../../support/desk-page.ts'
import { getForm } from '../../support/form.ts'
import { overflow } from '../../support/overflow.ts'
import { accessibilityProblems, test, type Visitor } from '../../support/browser-test.ts'

const desk = deskForTestFile()

/** The most bytes of a document with everything that organisers may write, compressed, without headers. */
const maxBytes = 9_000

/** The document once the server has read these words. */
async function documentWith(words: string) {
  const read = async () => {
    const response = await fetch(desk.origin, { headers: { 'accept-encoding': 'br' } })
    return response.text()
  }
  await expect.poll(read).toContain(words)
}

async function setFacts() {
  await desk.sql`update private.editions set starts_on = '2027-06-12', ends_on = '2027-06-15', venue = 'Hof Sonnenau, Schwarzwald'`
  await desk.sql`update private.page set cost = '€450, meals and bed included'`
  await documentWith('€450')
}

async function openAt(visitor: Visitor, width: number, height: number) {
  return visitor.open(desk.origin, { viewport: { width, height } })
}

test('with three facts, the first field is whole on the first screen', async ({ visitor }) => {
  await setFacts()
  const ends: string[] = []
  for (const [width, height] of [
    [390, 844],
    [1366, 650],
    [1280, 720],
    [844, 390],
  ] as const) {
    const page = await openAt(visitor, width, height)
    const box = await getForm(page).firstName.boundingBox()
    const end = Math.round((box?.y ?? Infinity) + (box?.height ?? 0))
    ends.push(`${end} at ${width} x ${height}`)
    expect(end).toBeLessThanOrEqual(height)
    await page.close()
  }
  console.log(`the first field ends at ${ends.join(', ')}`)
})

test('facts and paragraphs are above the form, fit at 320 px, and are read in their own direction', async ({
  visitor,
}) => {
  await setFacts()
  const about = `We walk. See https://example.org/${'x'.repeat(100)}.\n\nשלום לכולם.`
  await desk.sql`update private.page set about = ${about}`
  await documentWith('שלום')
  const page = await openAt(visitor, 320, 640)
  expect(await overflow(page)).toEqual({ scroll: 0, wide: [] })
  expect(await accessibilityProblems(page)).toEqual([])
  const retreat = page.getByRole('region', { name: 'About the retreat' })
  expect(await retreat.getByRole('link').getAttribute('href')).toMatch(/^https:\/\/example\.org\/x+$/)
  const direction = (text: string) =>
    retreat.getByText(text).evaluate((paragraph) => getComputedStyle(paragraph).direction)
  expect([await direction('שלום'), await direction('We walk')]).toEqual(['rtl', 'ltr'])
  const [above, below] = [await retreat.boundingBox(), await getForm(page).firstName.boundingBox()]
  expect((above?.y ?? 0) + (above?.height ?? 0)).toBeLessThan(below?.y ?? 0)
})

test('a document with everything that organisers may write has at most 9,000 bytes', async () => {
  await setFacts()
  // Words of letters by chance compress no better than prose.
  const words = Array.from({ length: 400 }, (_, index) => ((index * 2_654_435_761) % 46_656).toString(36))
  await desk.sql`
    update private.page set about = ${words.join(' ').slice(0, 2_000)}, hear_back = 'by 1 March', title = 'Slow Summer',
      tagline = 'Four days by the lake', badge = 'Ten places', privacy_url = 'https://example.org/privacy', accent = '#7a1f3d'`
  await desk.sql`update private.door set closes_at = '2097-05-01 16:00+00'`
  await documentWith('Slow Summer')
  const body = await new Promise<Buffer>((resolve, reject) => {
    get(desk.origin, { headers: { 'accept-encoding': 'br' } }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve(Buffer.concat(chunks)))
    }).on('error', reject)
  })
  expect(brotliDecompressSync(body).toString()).toContain('Apply by')
  console.log(`a document with all of it: ${body.length} bytes`)
  expect(body.length).toBeLessThanOrEqual(maxBytes)
})
