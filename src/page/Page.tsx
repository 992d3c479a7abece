import { ApplicationForm } from './ApplicationForm.tsx'
import { Hills, Plug } from './drawings.tsx'
import type { PageData } from './page-data.ts'
import { badge, tagline, title } from './words.ts'

/** The whole screen. */
export function Page(data: PageData) {
  return (
    <>
      <header>
        <p className="badge">{badge}</p>
        <h1 id="title">{title}</h1>
        <p className="tagline">{tagline}</p>
        <Plug />
      </header>
      <Hills />
      <main>
        <ApplicationForm {...data} />
      </main>
    </>
  )
}
