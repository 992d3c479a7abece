/** One journey in each browser engine: `npm run test:engines`, or some: `npm run test:engines -- firefox webkit`. */
import { deepStrictEqual } from 'node:assert'

import { textFields } from '../src/application/fields.ts'
import { engines, type EngineBrowser } from '../testing/engines.ts'
import { anApplication } from '../testing/form.ts'
import { runCommand, startServer, dataDirectory } from '../testing/server.ts'

const named = process.argv.slice(2)
for (const name of named) {
  if (name in engines) continue
  console.error(`There is no engine "${name}"; there are ${Object.keys(engines).join(', ')}.`)
  process.exit(1)
}

/** A founder applies, by keys and clicks alone, and a second time is ready. */
async function journey(
  browser: EngineBrowser,
  origin: string,
  application: ReturnType<typeof anApplication>,
) {
  await browser.open(origin)
  deepStrictEqual(await browser.evaluate('document.title'), 'Unplugged.')
  for (const { name } of textFields) await browser.type(`#${name}`, application[name])
  await browser.type('[name=custom_solution]', `${application.custom_solution}\n`)
  const chosen = `document.querySelector('[name=paid_solution]:checked')?.value`
  deepStrictEqual(await browser.evaluate(chosen), 'custom')
  await browser.click(`[name=team_size][value="${application.team_size}"]`)
  await browser.type('#reason', application.reason)
  await browser.click('[name=consent]')
  await browser.click('button')
  await browser.waitFor('.outcome.success')

  const seen = await browser.evaluate(`({
    title: document.querySelector('.outcome h2').textContent,
    focused: document.activeElement === document.querySelector('.outcome'),
    answers: [...new FormData(document.forms[0])].filter(([, answer]) => answer !== ''),
    consent: document.querySelector('[name=consent]').checked,
    button: document.querySelector('button').textContent,
    address: location.search,
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  })`)
  deepStrictEqual(seen, {
    title: 'Application Submitted Successfully!',
    focused: true,
    answers: [],
    consent: false,
    button: 'Send Details!',
    address: '',
    overflow: 0,
  })
}

let failed = false
const directory = await dataDirectory()
const settings = { DATA_DIR: directory.path }
const server = await startServer(settings)
for (const [name, find] of Object.entries(engines)) {
  if (named.length > 0 && !named.includes(name)) continue
  const start = find()
  if (!start) {
    failed ||= named.includes(name)
    console.log(named.includes(name) ? `✗ ${name} is not installed` : `- ${name} was left out: not installed`)
    continue
  }
  const application = anApplication({ paid_solution: 'custom', custom_solution: 'A cabin' })
  try {
    const browser = await start()
    try {
      await journey(browser, server.origin, application)
    } finally {
      await browser.close()
    }
    const { stdout } = await runCommand(['applications', '--json'], settings)
    const rows = stdout.split('\n').filter((line) => line.includes(`"${application.email}"`))
    deepStrictEqual(rows.length, 1, 'the application is stored once')
    const stored = JSON.parse(rows[0] ?? '') as Record<string, unknown>
    for (const [column, answer] of Object.entries(application)) deepStrictEqual(stored[column], answer)
    console.log(`✓ ${name}`)
  } catch (error) {
    failed = true
    console.error(`✗ ${name}`, error)
  }
}
await server.stop()
await directory.remove()
process.exit(failed ? 1 : 0)
