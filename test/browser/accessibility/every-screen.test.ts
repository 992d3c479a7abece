import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { beforeAll, expect } from 'vitest'

import { expectAccessible } from '../../support/accessible.ts'
import { startDesk, type DeskServer } from '../../support/desk.ts'
import { screens } from '../../support/all-screens.ts'
import { screenReaderText, settledText, structureProblems } from '../../support/screen-reader-text.ts'
import { test } from '../../support/browser-test.ts'

let desk: DeskServer

beforeAll(async () => {
  desk = await startDesk({ RATE_LIMIT_PER_MINUTE: '0' })
})

test.for(Object.entries(screens))(
  'a screen has one main heading, a name for each control and a live region, axe finds nothing in light, dark or forced colours, nothing overflows, and targets are large enough: %s',
  async ([name, { address, prepare, reachState }], { visitor }) => {
    visitor.allowConsoleError(/Failed to load resource/)
    const page = await visitor.open(desk.origin + address, {}, (opened) => prepare(opened, desk))
    await reachState(page, desk)
    await expect.poll(() => structureProblems(page)).toEqual([])
    // The repository contains some screens as a screen reader reads them out. People review every change to them.
    const recording = `test/fixtures/spoken/${name}.txt`
    if (existsSync(recording)) {
      if (process.env['SPOKEN'] === 'write') writeFileSync(recording, await settledText(page))
      await expect.poll(() => screenReaderText(page)).toBe(readFileSync(recording, 'utf8'))
    }
    await expectAccessible(page, name)
  },
)
