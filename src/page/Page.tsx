import { ApplicationForm } from './ApplicationForm.tsx'
import { Hills, Plug } from './drawings.tsx'
import type { PageData } from './page-data.ts'

/** The whole screen. */
export function Page(data: PageData) {
  return (
    <>
      <header>
        <p className="badge">Free For Founders, Apply Below</p>
        <h1 id="title">Unplugged.</h1>
        <p className="tagline">Build deeper relationships and bigger ideas without distraction</p>
        <Plug />
      </header>
      <Hills />
      <main>
        <ApplicationForm {...data} />
      </main>
    </>
  )
}
