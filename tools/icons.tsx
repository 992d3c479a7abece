/** Makes the page's icons and link preview from the page's drawings, in src/design/images/: `npm run icons`. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { renderToStaticMarkup } from 'react-dom/server'

import { PlugAndCord } from '../src/design/illustrations.tsx'
import { light } from '../src/design/palette.ts'
import { ensureChromium, launchChromium } from '../test/support/browser.ts'
import { startServer, dataDirectory } from '../test/support/server.ts'

const folder = 'src/design/images'

/** The plug in front of the sun, above the nearest hill. Each document contains the icon, so its source is short. */
function Icon({ corner }: { corner: number }) {
  const round = `a${corner} ${corner} 0 0 1-${corner}`
  return (
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">
      <style>{`.cord{fill:none;stroke:${light.ink};stroke-width:3}`}</style>
      <rect width="64" height="64" rx={corner} fill={light.sky} />
      <circle cx="32" cy="34" r="23" fill={light.sun} />
      <path
        d={`M0 57q16-5 34-1t30-3v${11 - corner}${round} ${corner}H${corner}${round}-${corner}z`}
        fill={light.near}
      />
      <g transform="translate(16-4)" fill={light.ink}>
        <PlugAndCord />
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
  // Phones round the corners of icons.
  for (const [file, size] of Object.entries({ 'apple-touch-icon.png': 180, 'icon-192.png': 192 })) {
    const page = await browser.newPage({ viewport: { width: size, height: size } })
    await page.setContent(`<style>body{margin:0}</style>${icon(0)}`)
    await page.screenshot({ path: join(folder, file) })
    await page.close()
  }

  // The top of the page at a width of 800 px, as an image of 1200 x 630.
  const page = await browser.newPage({
    viewport: { width: 800, height: 420 },
    deviceScaleFactor: 1.5,
    reducedMotion: 'reduce',
    bypassCSP: true,
  })
  await page.goto(server.origin)
  await page.addStyleTag({
    content: `
      body { grid-template-columns: 1fr }
      h1 { font-size: 6.5rem }
      main, .plug { display: none }
      .scene > .hills .sun { transform: translate(-30px) }
    `,
  })
  await page.screenshot({ path: join(folder, 'preview.png') })

  // The same without words, for a site with a name of its own.
  await page.addStyleTag({
    content: `
      header { display: none }
      .scene > .hills { height: 62vh }
      .scene > .hills .birds { transform: translate(-260px, 10px) }
    `,
  })
  await page.screenshot({ path: join(folder, 'preview-wordless.png') })
} finally {
  await browser.close()
  await server.stop()
  await directory.remove()
}
console.log(`The images are in ${folder}/.`)
