import { Hills, Plug } from '../../design/illustrations.tsx'
import { ownWords, type Look } from '../../design/look.ts'
import { Door } from './Door.tsx'
import { Retreat } from './Retreat.tsx'

/**
 * The landscape and the title. It is painted first.
 *
 * @param props.door The sentence of the closed door; undefined while applications are open.
 */
export function Scene({ look, door }: { look: Look; door: string | undefined }) {
  // An operator's words may be in a language that is written from right to left.
  const direction = (name: 'title' | 'tagline' | 'badge') =>
    ownWords(name, look) === undefined ? undefined : 'auto'
  return (
    <div className="scene">
      <header>
        {door !== undefined && <Door sentence={door} />}
        <p className="badge" dir={direction('badge')}>
          {look.badge}
        </p>
        <h1 id="title" dir={direction('title')}>
          {look.title}
        </h1>
        <p className="tagline" dir={direction('tagline')}>
          {look.tagline}
        </p>
        <Plug />
        <Retreat facts={look.facts} about={look.about} />
      </header>
      <Hills />
    </div>
  )
}
