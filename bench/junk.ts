import { setTimeout as wait } from 'node:timers/promises'

import { people as demoPeople } from '../demo/people.ts'
import { ensureChromium, launchChromium } from '../test/support/browser.ts'
import { signPageIn, startDesk } from '../test/support/desk.ts'
import { anApplication } from '../test/support/form.ts'
import { valuesOf } from '../test/support/sql.ts'
import { checkGuarantee, printTable } from './table.ts'

/** The number of people among the junk, and of applications of each kind of junk. */
const peopleCount = 200
const junkCounts = { reason: 2_000, links: 1_500, domain: 1_500 }
/** The limits for putting all the junk aside: presses and seconds. */
const maxPresses = 10
const maxSeconds = 60

const kinds: Record<keyof typeof junkCounts, (index: number) => { email: string; reason: string }> = {
  reason: (index) => ({
    email: `a${index}@seller${index % 700}.example`,
    reason: `Best\nSEO ${' '.repeat(index % 3)}now!`,
  }),
  links: (index) => ({
    email: `b${index}@shop${index % 600}.example`,
    reason: `https://shop.example/${index}\nwww.shop.example/${index}`,
  }),
  domain: (index) => ({
    email: `c${index}@bots.example`,
    reason: `Invest ${index} today, double it by tomorrow.`,
  }),
}

/** Puts aside 5,000 junk applications of three kinds, which arrived within two hours, mixed with those of two hundred people. */
export async function benchJunk(): Promise<void> {
  const desk = await startDesk()
  const now = Date.now()
  const at = (index: number) => new Date(now - (index % 120) * 60_000)
  const rows = [
    ...demoPeople()
      .slice(0, peopleCount)
      .map((person, index) => ({ ...anApplication(), ...person, created_at: at(index) })),
    ...Object.entries(junkCounts).flatMap(([kind, count]) =>
      Array.from({ length: count }, (_, index) => ({
        ...anApplication(kinds[kind as keyof typeof junkCounts](index)),
        created_at: at(index),
      })),
    ),
  ]
  for (let from = 0; from < rows.length; from += 1_000)
    await desk.sql`insert into public.retreat_applications ${valuesOf(rows.slice(from, from + 1_000))}`
  const browser = await launchChromium(ensureChromium())
  const page = await browser.newPage()
  await signPageIn(await desk.signedIn('ada@example.org'))(page)
  await page.goto(`${desk.origin}/desk`)
  const dialog = page.getByRole('dialog')
  const started = performance.now()
  await page.getByRole('button', { name: '5,000 look like junk' }).click()
  let presses = 1
  const buttons = dialog.getByRole('button', { name: /^Put aside/ })
  while ((await buttons.count()) > 0) {
    await buttons.first().click()
    presses += 1
  }
  for (;;) {
    const [row] = await desk.sql<[{ count: number }]>`
      select count(*)::integer as count from private.statuses where status = 'aside'`
    if (row.count === 5_000) break
    await wait(100)
  }
  const seconds = (performance.now() - started) / 1000
  const [{ peopleAside }] = await desk.sql<[{ peopleAside: number }]>`
    select count(*)::integer as "peopleAside" from private.statuses join public.retreat_applications on id = application_id
    where email !~ '@(seller\\d+|shop\\d+|bots)\\.example$'`
  printTable(
    `5,000 junk applications of three kinds among ${peopleCount} people`,
    ['presses', 'seconds', 'people put aside by mistake'],
    [[String(presses), seconds.toFixed(1), String(peopleAside)]],
  )
  checkGuarantee(`all junk is put aside by at most ${maxPresses} presses`, presses <= maxPresses)
  checkGuarantee(`all junk is put aside within ${maxSeconds} s`, seconds <= maxSeconds)
  checkGuarantee('nobody else is put aside', peopleAside === 0)
  await browser.close()
  await desk.close()
}
