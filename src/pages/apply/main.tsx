import type { ScriptData } from './apply-data.ts'
import { readPageData } from '../page-data.ts'
import { addKeyBehaviour } from './keys.ts'
import { takeOver } from './take-over.tsx'
import { improveTextAreas } from './text-areas.ts'

/** Milliseconds after which the form can be used again, if the browser is still posting it. */
const postTimeout = 20_000

const [form] = document.forms
if (window.isPosting) {
  // The visitor may have stopped the browser, which no event reports. The form then becomes as after Back, and the next load of this
  // script takes it over. Sending the same answers again stores nothing.
  setTimeout(() => {
    if (window.isPosting) dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))
  }, postTimeout)
} else if (form) {
  takeOver(form, readPageData() as ScriptData)
  addKeyBehaviour()
  improveTextAreas()
}
