/** The data that a chat program or a phone reads from the page's public address. */
export interface LinkPreview {
  tags: Record<string, string>
  image: Image
  icons: Image[]
}

interface Image {
  type: string | null
  /** Width and height of a PNG in pixels, such as `180x180`. Blank for other types. */
  size: string
  bytes: number
}

/**
 * Reads the head of the page at `origin`, and fetches the images that it names.
 *
 * @param origin The page's address in this test.
 * @param siteUrl The page's public address. The address of the preview image begins with it.
 */
export async function readLinkPreview(origin: string, siteUrl: string): Promise<LinkPreview> {
  const html = await (await fetch(origin)).text()
  const tags: Record<string, string> = {}
  for (const [, name = '', content = ''] of html.matchAll(
    /<meta (?:name|property)="([^"]+)" content="([^"]*)"/g,
  )) {
    tags[name] = content
  }
  const [, canonical = ''] = /<link rel="canonical" href="([^"]+)"/.exec(html) ?? []
  tags['canonical'] = canonical
  const icons = [...html.matchAll(/<link rel="(?:apple-touch-)?icon" href="([^"]+)"/g)]
  const addresses = icons.map(([, href = '']) => new URL(href, origin).href)
  return {
    tags,
    image: await fetchImage((tags['og:image'] ?? '').replace(siteUrl.replace(/\/?$/, '/'), origin)),
    icons: await Promise.all(addresses.map((address) => fetchImage(address))),
  }
}

async function fetchImage(address: string): Promise<Image> {
  const response = await fetch(address)
  const content = Buffer.from(await response.arrayBuffer())
  const isPng = content.subarray(1, 4).toString() === 'PNG'
  return {
    type: response.headers.get('content-type'),
    size: isPng ? `${content.readUInt32BE(16)}x${content.readUInt32BE(20)}` : '',
    bytes: content.length,
  }
}
