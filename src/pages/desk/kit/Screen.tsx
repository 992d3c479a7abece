import type { ReactNode } from 'react'

import { Heading } from './Heading.tsx'
import { Loading } from './lazy-screen.tsx'
import { Problem } from './Problem.tsx'
import { useTitle } from './site-title.tsx'

interface ScreenProps<Read> {
  /** The text of its heading and of the window's title. Tabs, Back and screen readers identify a screen by it. */
  title: string
  /** The query for its content. */
  query: { data: Read | undefined; error: Error | null; refetch: () => unknown }
  /** The content above the heading, such as the link back. */
  nav?: ReactNode
  /** The content between the heading and the rest. */
  head?: ReactNode
  children: (read: Read) => ReactNode
}

/** A screen of the desk. It focuses its heading when it opens, and shows loading and errors. */
export function Screen<Read>({ title, query, nav, head, children }: ScreenProps<Read>) {
  const { data, error, refetch } = query
  useTitle(title)
  return (
    <>
      {nav}
      <Heading>{title}</Heading>
      {data !== undefined && head}
      {data === undefined ? (
        <Problem error={error} onTryAgain={() => void refetch()} />
      ) : (
        <Problem message="This may be out of date." error={error} isStale />
      )}
      {data === undefined ? error === null && <Loading /> : children(data)}
    </>
  )
}

interface SheetProps {
  title: string
  /** Whether it is below a common heading of several sheets, so that its own heading has level 3. */
  isPart?: boolean
  className?: string
  children: ReactNode
}

/** A section of a screen, with its heading. */
export function Sheet({ title, isPart = false, className = '', children }: SheetProps) {
  const id = title.toLowerCase().replaceAll(' ', '-')
  return (
    <section className={`layout-sheet ${className}`} aria-labelledby={id}>
      {isPart ? <h3 id={id}>{title}</h3> : <h2 id={id}>{title}</h2>}
      {children}
    </section>
  )
}
