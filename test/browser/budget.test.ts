import { expect } from 'vitest'

import { serverForTestFile } from '../support/server-for-test-file.ts'
import { anApplication, getForm } from '../support/form.ts'
import { test, type Visitor } from '../support/browser-test.ts'

const kilobyte = 1_000

// This is the shipped build, without React’s development version.
const server = serverForTestFile()

/** Opens a page and counts the transferred bytes. */
async function openCounted(visitor: Visitor, address: string) {
  const transferred = new Map<string, { url: string; bytes: number }>()
  const page = await visitor.open(address, { isNew: true }, async (opened) => {
    const devtools = await opened.context().newCDPSession(opened)
    await devtools.send('Network.enable')
    devtools.on('Network.requestWillBeSent', ({ requestId, request }) => {
      // Request bodies count too, here that of the insert.
      transferred.set(requestId, { url: request.url, bytes: request.postData?.length ?? 0 })
    })
    devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      const transfer = transferred.get(requestId)
      if (transfer) transfer.bytes += encodedDataLength
    })
  })
  return { page, transfers: () => [...transferred.values()].filter(({ url }) => !url.startsWith('data:')) }
}

test('the page keeps its budgets for bytes and requests, and contacts no third party', async ({
  visitor,
}) => {
  const { page, transfers } = await openCounted(visitor, server.origin)
  await page.waitForLoadState('networkidle')
  const total = () => transfers().reduce((sum, { bytes }) => sum + bytes, 0)
  const document = transfers().find(({ url }) => url === `${server.origin}/`)
  console.log(`a visit in which nobody fills in the form: ${total()} bytes in ${transfers().length} requests`)
  expect(document?.bytes).toBeGreaterThan(kilobyte)
  expect(total()).toBeLessThanOrEqual(7 * kilobyte)
  expect(transfers().length).toBe(1)

  const form = getForm(page)
  await form.fill(anApplication())
  await form.button.click()
  await form.success.waitFor()
  console.log(`a visit until the application was sent: ${total()} bytes`)
  expect(total()).toBeLessThanOrEqual(80.5 * kilobyte)
  expect(transfers().filter(({ url }) => !url.startsWith(server.origin))).toEqual([])
})

test('the answer page is one document of at most 9 kB, and contacts only the backend', async ({
  visitor,
}) => {
  const { page, transfers } = await openCounted(visitor, `${server.origin}/answer/#${crypto.randomUUID()}`)
  await page.getByText('This link is no longer valid.').waitFor()
  await page.waitForLoadState('networkidle')
  const [document, ...calls] = transfers()
  console.log(`the answer page: ${document?.bytes} bytes`)
  expect(document?.bytes).toBeGreaterThan(kilobyte)
  expect(document?.bytes).toBeLessThanOrEqual(9 * kilobyte)
  expect(calls.map(({ url }) => url)).toEqual([`${server.origin}/rest/v1/rpc/place_by_token`])
})

test('the page for withdrawing is one document of at most 9 kB, and contacts only the backend', async ({
  visitor,
}) => {
  const { page, transfers } = await openCounted(visitor, `${server.origin}/withdraw/#${crypto.randomUUID()}`)
  await page.getByText('This link does not work').waitFor()
  await page.waitForLoadState('networkidle')
  const [document, ...calls] = transfers()
  console.log(`the page for withdrawing: ${document?.bytes} bytes`)
  expect(document?.bytes).toBeGreaterThan(kilobyte)
  expect(document?.bytes).toBeLessThanOrEqual(9 * kilobyte)
  expect(calls.map(({ url }) => url)).toEqual([`${server.origin}/rest/v1/rpc/withdrawal_by_token`])
})

test('the document can be read and filled in before any script has loaded', async ({ visitor }) => {
  const application = anApplication()
  const page = await visitor.open(server.origin, { isNew: true }, (opened) =>
    opened.route('**/assets/**', () => {}),
  )
  await getForm(page).fill(application)
  const { consent, ...answers } = application
  expect(consent).toBe(true)
  expect(await getForm(page).answers()).toMatchObject(answers)
  expect(await page.locator('script[src], link[rel=stylesheet]').count()).toBeLessThanOrEqual(1)
})

test('responses are compressed; the document is revalidated, and scripts are cached for good', async () => {
  const encodings = ['br', 'gzip'] as const
  for (const encoding of encodings) {
    const response = await fetch(server.origin, { headers: { 'accept-encoding': encoding } })
    expect(response.headers.get('content-encoding')).toBe(encoding)
    expect(response.headers.get('vary')).toContain('accept-encoding')
    expect(await response.text()).toContain('Unplugged.')
  }
  const plain = await fetch(server.origin, { headers: { 'accept-encoding': 'identity, br;q=0' } })
  expect(plain.headers.get('content-encoding')).toBeNull()
  const etag = plain.headers.get('etag') ?? ''
  expect(plain.headers.get('cache-control')).toBe('no-cache')
  const revalidated = await fetch(server.origin, {
    headers: { 'accept-encoding': 'identity', 'if-none-match': `"other", W/${etag}` },
  })
  expect(revalidated.status).toBe(304)

  const [, script = ''] = /data-page="\.([^"]+)"/.exec(await plain.text()) ?? []
  const etagsOfScript = new Set()
  for (const encoding of encodings) {
    const asset = await fetch(server.origin + script, { headers: { 'accept-encoding': encoding } })
    etagsOfScript.add(asset.headers.get('etag'))
    expect(asset.headers.get('content-encoding')).toBe(encoding)
    expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(asset.headers.get('vary')).toBe('accept-encoding')
    await asset.arrayBuffer()
  }
  expect(etagsOfScript.size).toBe(encodings.length)
})
