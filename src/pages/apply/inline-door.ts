/**
 * The inline script of a form whose door is closed, or may be: no server knows it when a static document is rendered. A closed form
 * cannot be typed in, so its page's script loads without that.
 */
import { readDoor } from '../../client/door.ts'
import { readPageData } from '../page-data.ts'
import type { ScriptData } from './apply-data.ts'
import { load } from './before-take-over.ts'

const { backend, door } = readPageData() as ScriptData

async function loadIfClosed() {
  if (door !== undefined || (await readDoor(backend))?.is_open === false) load()
}

void loadIfClosed()
