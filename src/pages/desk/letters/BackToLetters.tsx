import type { ReactNode } from 'react'

import { hrefOf } from '../kit/places.ts'

/** The way back from a screen of letters, and what stands beside it. */
export function BackToLetters({ children }: { children?: ReactNode }) {
  return (
    <nav className="row application-nav" aria-label="In the letters">
      <a href={hrefOf({ screen: 'letters' })} className="button">
        Back
      </a>
      {children}
    </nav>
  )
}
