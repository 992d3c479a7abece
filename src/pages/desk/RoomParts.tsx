import { EarlierNotice, EditionSelect } from './editions/EditionSelect.tsx'
import { usePlaces } from './data/usePlaces.ts'
import { go, hrefOf, roomOf, type Route } from './data/route.ts'

type PlainRoute = Extract<Route, { edition?: unknown }>

/** The screens of each room that has several, in their order, with the words of their links. */
const parts: Record<string, [screen: PlainRoute['screen'], words: string][]> = {
  Guests: [
    ['coming', 'Who is coming'],
    ['guests', 'Guest list'],
  ],
  Retreat: [
    ['page', 'Page'],
    ['retreat', 'Days and places'],
    ['questions', 'Questions'],
    ['door', 'Door'],
    ['retention', 'Erasing'],
    ['retreats', 'Next retreat'],
    ['history', 'History'],
    ['first-steps', 'First steps'],
  ],
}

/** The screens that show one retreat. The others are about all. */
const ofOneRetreat: readonly string[] = [
  'coming',
  'guests',
  'retreat',
  'questions',
] satisfies PlainRoute['screen'][]

/** The links to the screens of a room, and the field that selects one of several retreats. */
export function RoomParts({ route }: { route: Route }) {
  const room = roomOf(route)
  const edition = 'edition' in route ? route.edition : undefined
  const links = parts[room]
  if (links === undefined) return null
  return (
    <>
      <nav className="desk-room" aria-label={`In ${room}`}>
        {links.map(([screen, words]) => (
          <a
            key={screen}
            className="desk-link"
            href={hrefOf({ screen, edition: ofOneRetreat.includes(screen) ? edition : undefined })}
            aria-current={screen === route.screen ? 'page' : undefined}
          >
            {words}
          </a>
        ))}
      </nav>
      {ofOneRetreat.includes(route.screen) && <RetreatChoice route={route as PlainRoute} />}
    </>
  )
}

function RetreatChoice({ route: { screen, edition } }: { route: PlainRoute }) {
  // The newest retreat lists all: the field stays while another retreat loads.
  const { data } = usePlaces()
  const editions = data?.editions ?? []
  return (
    <>
      <EarlierNotice {...{ editions, edition }} to={{ screen }} />
      <EditionSelect
        {...{ editions, edition }}
        onChoose={(chosen) => go({ screen, edition: chosen }, { replace: true })}
      />
    </>
  )
}
