import { hydrateRoot } from 'react-dom/client'

import { Page } from './Page.tsx'
import { readPageData } from './page-data.ts'

// React expects the page as it was rendered; this box came after.
document.getElementById('early-error')?.remove()
const root = document.getElementById('page')
if (root) hydrateRoot(root, <Page {...readPageData()} />)
