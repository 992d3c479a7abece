import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect } from 'vitest'

import { expectAccessible } from '../../support/accessible.ts'
import { startDesk, type DeskServer } from '../../support/desk.ts'
import { screens } from '../../support/screens.ts'
import { settledText, screenReaderText } from '../../support/screen-reader-text.ts'
import { test } from '../../support/visitor.ts'

let desk: DeskServer

beforeAll(async () => {
  desk = await startDesk({ RATE_LIMIT_PER_MINUTE: '0' })
})

test.for(Object.entries(screens))(
  'a screen is read out as recorded, axe finds nothing in light, dark or forced colours, nothing overflows, and targets are large enough: %s',
  async ([name, { address, prepare, reachState }], { visitor }) => {
    visitor.allowConsoleError(/Failed to load resource/)
    const page = await visitor.open(desk.origin + address, {}, (opened) => prepare(opened, desk))
    await reachState(page, desk)
    // The repository contains the screen reader's text, so that every change to it is reviewed.
    const recording = join(import.meta.dirname, 'spoken', `${name}.txt`)
    if (process.env['SPOKEN'] === 'write') writeFileSync(recording, await settledText(page))
    await expect.poll(() => screenReaderText(page), { timeout: 20_000 }).toBe(readFileSync(recording, 'utf8'))
    await expectAccessible(page, name)
  },
)
