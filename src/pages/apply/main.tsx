import { startTransition } from 'react'
import { hydrateRoot } from 'react-dom/client'

import { ApplicationForm } from './ApplicationForm.tsx'
import { readPageData } from '../page-data.ts'
import type { ApplyData } from './apply-data.ts'

// React expects the page as it was rendered; this box came after.
document.getElementById('early-error')?.remove()
const root = document.getElementById('page')
// As a transition, hydration is done in slices: on a slow phone it would otherwise hold up typing.
if (root)
  startTransition(() => void hydrateRoot(root, <ApplicationForm {...(readPageData() as ApplyData)} />))
