import type { ReactNode } from 'react'

import { useTitle } from '../kit/Screen.tsx'
import type { Notice } from './sentences.ts'

/** One step of the sign-in, alone on the page. */
export function Step({
  title,
  notice,
  children,
}: {
  title: string
  notice?: Notice | undefined
  children: ReactNode
}) {
  useTitle(title)
  return (
    <div className="alone">
      <p className="brand">Unplugged.</p>
      <section className="sheet step" aria-labelledby="step">
        <h1 id="step">{title}</h1>
        {notice && <Said {...notice} />}
        {children}
      </section>
    </div>
  )
}

/** A sentence that screen readers say when it appears. */
export function Said({ text, isProblem }: Notice) {
  return (
    <p className={`notice ${isProblem ? 'error' : 'success'}`} role={isProblem ? 'alert' : 'status'}>
      {text}
    </p>
  )
}

/** What is shown until the desk's script has come. */
export function Opening() {
  useTitle('Opening')
  return (
    <div className="alone">
      <p className="brand">Unplugged.</p>
      <p id="opening">Opening the desk…</p>
      <noscript>
        <p>The desk needs JavaScript. Please switch it on for this page, and reload.</p>
      </noscript>
    </div>
  )
}
