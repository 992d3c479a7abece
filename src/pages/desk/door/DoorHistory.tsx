import type { GeneralHappening } from '../../../client/desk.ts'
import { momentOf } from '../dates.ts'
import { wordsOf } from './door-words.ts'

/** What organisers did to the door, or to no application, the newest first. */
export function DoorHistory({ history }: { history: GeneralHappening[] }) {
  if (history.length === 0)
    return <p className="quietly">Nothing yet. The door has been open from the beginning.</p>
  return (
    <ul className="happened">
      {history.map((happening) => (
        <li key={`${happening.at} ${happening.kind} ${happening.author}`}>
          {wordsOf(happening)}
          <span className="quietly">
            {happening.author}, <time dateTime={happening.at}>{momentOf(happening.at)}</time>
          </span>
        </li>
      ))}
    </ul>
  )
}
