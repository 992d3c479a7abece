import type { ReactNode } from 'react'

import { Brand, useTitle } from '../kit/site-title.tsx'

/**
 * The page shown until the desk's script has loaded and the session was checked.
 *
 * @param props.children The sentence for browsers without JavaScript. Only the document has it.
 */
export function Opening({ children }: { children?: ReactNode }) {
  useTitle('Opening')
  return (
    <div className="session-alone">
      <Brand />
      <p id="opening">Opening the desk…</p>
      {children}
    </div>
  )
}
