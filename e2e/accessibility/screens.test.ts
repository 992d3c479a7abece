import { beforeAll } from 'vitest'

import { expectUsable } from '../../testing/accessible.ts'
import { startDesk, type DeskServer } from '../../testing/desk.ts'
import { screens } from '../../testing/screens.ts'
import { test } from '../../testing/visitor.ts'

let desk: DeskServer

beforeAll(async () => {
  desk = await startDesk({ RATE_LIMIT_PER_MINUTE: '0' })
})

test.for(Object.entries(screens))(
  'axe finds nothing, light, dark or in forced colours, nothing sticks out, and no finger misses: %s',
  async ([name, { address, prepare, reach }], { visitor }) => {
    visitor.expects(/Failed to load resource/)
    const page = await visitor.open(desk.origin + address, {}, (opened) => prepare(opened, desk))
    await reach(page, desk)
    await expectUsable(page, name)
  },
)
