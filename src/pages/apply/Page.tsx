import { ApplicationForm } from './ApplicationForm.tsx'
import { Hills, Plug } from '../../design/illustrations.tsx'
import type { ApplyData } from './apply-data.ts'
import { badge, tagline, title } from './copy.ts'

/** The whole screen. */
export function Page(data: ApplyData) {
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
