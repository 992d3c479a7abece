import { Hills, Plug } from '../../design/illustrations.tsx'
import { badge, tagline, title } from './copy.ts'

/** The landscape and the title. It is painted first and never hydrated. */
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
