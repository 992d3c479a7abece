import { expectUsable } from '../../testing/accessible.ts'
import { deskOfThisFile } from '../../testing/desk-page.ts'
import { deskStates, standAsBefore, storeExamples } from '../../testing/desk-states.ts'
import { test } from '../../testing/visitor.ts'

const desk = deskOfThisFile()

// The states of which `npm run screenshots` takes the pictures.
test.for(Object.entries(deskStates))(
  'axe finds nothing at any width, light, dark or in forced colours, nothing sticks out, and no finger misses: %s',
  async ([state, reach], { visitor }) => {
    await storeExamples(desk.sql)
    await standAsBefore(desk.sql)
    const page = await desk.open(visitor, '/?status=all')
    await reach(page)
    await expectUsable(page, state)
  },
)
