import type { LoadAuth } from '../../client/session.ts'
import { AccountShow } from './account/AccountShow.tsx'
import { DoorEdit } from './door/DoorEdit.tsx'
import { DraftList } from './drafts/DraftList.tsx'
import { HistoryList } from './history/HistoryList.tsx'
import type { Place } from './kit/places.ts'
import { LettersShow } from './letters/LettersShow.tsx'
import { OutboxList } from './letters/OutboxList.tsx'
import { PlacesShow } from './places/PlacesShow.tsx'
import type { WatchedSession } from './session/watch-session.ts'
import { TemplateEdit } from './templates/TemplateEdit.tsx'

interface OtherScreenProps {
  place: Exclude<Place, { screen: 'list' | 'application' | 'unknown' }>
  auth: LoadAuth
  session: WatchedSession
}

/** The screens besides the applications: a script of their own, which the first list does not wait for. */
export default function OtherScreen({ place, auth, session }: OtherScreenProps) {
  switch (place.screen) {
    case 'places':
      return <PlacesShow />
    case 'letters':
      return <LettersShow />
    case 'drafts':
      return <DraftList key={place.occasion} occasion={place.occasion} />
    case 'template':
      return <TemplateEdit key={place.occasion} occasion={place.occasion} />
    case 'outbox':
      return <OutboxList key={place.state} state={place.state} />
    case 'door':
      return <DoorEdit />
    case 'history':
      return <HistoryList />
    case 'account':
      return <AccountShow {...{ auth, session }} />
  }
}
