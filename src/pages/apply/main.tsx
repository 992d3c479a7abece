import { startTransition, StrictMode } from 'react'
import { hydrateRoot } from 'react-dom/client'

import { ApplicationForm } from './ApplicationForm.tsx'
import { readPageData } from '../page-data.ts'
import type { ApplyData } from './apply-data.ts'
import { addKeyBehaviour } from './keys.ts'
import { improveTextAreas } from './text-areas.ts'

/** Milliseconds after which the form can be used again, if the browser is still posting it. */
const postTimeout = 20_000

// React expects the document as it was rendered, without the error box that the inline script added.
const earlyError = document.querySelector('.error[role=alert]')
earlyError?.remove()
const root = document.getElementById('page')
if (window.isPosting) {
  // The visitor may have stopped the browser, which no event reports. The form then becomes as after Back, and hydrates with the
  // next load of this script. Sending the same answers again stores nothing.
  setTimeout(() => {
    if (window.isPosting) dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))
  }, postTimeout)
} else if (root) {
  const data = readPageData() as ApplyData
  // React replaces the text of a rendered text area, which somebody may have edited since.
  if (data.outcome?.status === 'error')
    for (const { name, value } of document.querySelectorAll('textarea'))
      data.outcome.application[name as 'reason'] = value
  const form = (
    <StrictMode>
      <ApplicationForm {...data} hasFailed={earlyError !== null} />
    </StrictMode>
  )
  // A transition hydrates in slices. On a slow phone, hydration would otherwise block typing.
  startTransition(() => void hydrateRoot(root, form))
  addKeyBehaviour()
  improveTextAreas()
}
