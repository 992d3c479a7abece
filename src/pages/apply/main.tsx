import { startTransition, StrictMode } from 'react'
import { hydrateRoot } from 'react-dom/client'

import { ApplicationForm } from './ApplicationForm.tsx'
import { readPageData } from '../page-data.ts'
import type { ApplyData } from './apply-data.ts'
import { careForKeys } from './keys.ts'
import { careForTextAreas } from './text-areas.ts'

// React expects the document as it was rendered, and this box was added later.
const earlyError = document.getElementById('early-error')
earlyError?.remove()
const root = document.getElementById('page')
if (root && !window.isPosting) {
  const form = (
    <StrictMode>
      <ApplicationForm {...(readPageData() as ApplyData)} hasFailed={earlyError !== null} />
    </StrictMode>
  )
  // As a transition, hydration is done in slices: on a slow phone it would otherwise hold up typing.
  startTransition(() => void hydrateRoot(root, form))
  careForKeys()
  careForTextAreas()
}
