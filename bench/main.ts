/** Measures the product: `npm run bench`, or the named parts of it, which `parts` lists below: `npm run bench -- page desk`. */
import { benchBackup } from './backup.ts'
import { benchBeside } from './beside.ts'
import { benchDesk } from './desk.ts'
import { benchDeskPage } from './desk-page.ts'
import { benchEnumeration } from './enumeration.ts'
import { benchErasing } from './erasing.ts'
import { benchGrowth } from './growth.ts'
import { benchHostileText } from './hostile-text.ts'
import { benchHostile } from './hostile.ts'
import { benchJunk } from './junk.ts'
import { benchLaunch } from './launch.ts'
import { benchLetters } from './letters.ts'
import { benchMemory } from './memory.ts'
import { benchMigration } from './migration.ts'
import { benchPage } from './page.ts'
import { benchPlaces } from './places.ts'
import { benchReadiness } from './readiness.ts'
import { benchReading } from './reading.ts'
import { benchSearch } from './search.ts'
import { benchServer } from './server.ts'
import { benchSignIn } from './sign-in.ts'
import { benchStart } from './start.ts'
import { describeMachine } from './table.ts'
import { benchTogether } from './together.ts'
import { benchTyping } from './typing.ts'
import { benchUpdate } from './update.ts'
import { benchWayBack } from './way-back.ts'

const parts: Record<string, () => Promise<void>> = {
  page: benchPage,
  typing: benchTyping,
  server: benchServer,
  growth: benchGrowth,
  launch: benchLaunch,
  start: benchStart,
  hostile: benchHostile,
  'hostile-text': benchHostileText,
  enumeration: benchEnumeration,
  desk: benchDesk,
  'desk-page': benchDeskPage,
  letters: benchLetters,
  together: benchTogether,
  search: benchSearch,
  readiness: benchReadiness,
  backup: benchBackup,
  beside: benchBeside,
  'sign-in': benchSignIn,
  update: benchUpdate,
  migration: benchMigration,
  'way-back': benchWayBack,
  places: benchPlaces,
  memory: benchMemory,
  reading: benchReading,
  junk: benchJunk,
  erasing: benchErasing,
}
const chosen = process.argv.slice(2)
const unknown = chosen.find((name) => !(name in parts))
if (unknown !== undefined) {
  console.error(`There is no part "${unknown}"; there are ${Object.keys(parts).join(', ')}.`)
  process.exit(1)
}
console.log(`${new Date().toISOString().slice(0, 10)}, ${describeMachine()}`)
for (const [name, part] of Object.entries(parts)) {
  if (chosen.length === 0 || chosen.includes(name)) await part()
}
