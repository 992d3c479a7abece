/** Makes the page's icons and its preview from its own drawings, into src/design/images/: `npm run images`. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { renderToStaticMarkup } from 'react-dom/server'

import { Plug } from '../src/design/illustrations.tsx'
import { light } from '../src/design/palette.ts'
import { ensureChromium, launchChromium } from '../testing/browser.ts'
import { startServer, dataDirectory } from '../testing/server.ts'

const folder = 'src/design/images'

/** The plug before the sun, over the nearest hill. */
function Icon({ corner }: { corner: number }) {
  return (
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">
      <style>{`.plug{fill:${light.ink}}.cord,.prong{fill:none;stroke:${light.ink};stroke-width:3;stroke-linecap:round}`}</style>
      <clipPath id="edge">
        <rect width="64" height="64" rx={corner} />
      </clipPath>
      <g clipPath="url(#edge)">
        <rect width="64" height="64" fill={light.sky} />
        <circle cx="32" cy="34" r="23" fill={light.sun} />
        <path d="M0 58q16-6 34-2t30-3v14H0Z" fill={light.near} />
        <svg x="16" y="-4" width="32" height="56">
          <Plug />
        </svg>
      </g>
    </svg>
  )
}

const icon = (corner: number) => renderToStaticMarkup(<Icon corner={corner} />)
await writeFile(join(folder, 'icon.svg'), icon(14))

const browser = await launchChromium(ensureChromium())
const directory = await dataDirectory()
const server = await startServer({ DATA_DIR: directory.path })
try {
  // Phones cut the corners themselves.
  for (const [file, size] of Object.entries({ 'apple-touch-icon.png': 180, 'icon-192.png': 192 })) {
    const page = await browser.newPage({ viewport: { width: size, height: size } })
    await page.setContent(`<style>body{margin:0}</style>${icon(0)}`)
    await page.screenshot({ path: join(folder, file) })
    await page.close()
  }

  // The head of the page itself, as it is seen at 800 px: 1200 x 630 in the end.
  const page = await browser.newPage({
    viewport: { width: 800, height: 420 },
    deviceScaleFactor: 1.5,
    reducedMotion: 'reduce',
    bypassCSP: true,
  })
  await page.goto(server.origin)
  await page.addStyleTag({
    content: `
      body { height: 26.25rem; overflow: hidden; background: linear-gradient(${light.sky}, ${light.glow}) }
      header { padding-top: 2.75rem }
      .tagline { max-width: none }
      .plug, main { display: none }
      .hills { position: absolute; bottom: 0 }
    `,
  })
  await page.screenshot({ path: join(folder, 'preview.png') })
} finally {
  await browser.close()
  await server.stop()
  await directory.remove()
}
console.log(`The images are in ${folder}/.`)
