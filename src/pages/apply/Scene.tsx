import { Hills, Plug } from '../../design/illustrations.tsx'
import { badge, tagline, title } from './copy.ts'

/** The place, and what the page is about. It is painted first, and stays as it was rendered. */
export function Scene() {
  return (
    <div className="scene">
      <header>
        <p className="badge">{badge}</p>
        <h1 id="title">{title}</h1>
        <p className="tagline">{tagline}</p>
        <Plug />
      </header>
      <Hills />
    </div>
  )
}
