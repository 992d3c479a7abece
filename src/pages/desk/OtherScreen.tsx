import { useQuery } from '@tanstack/react-query'

import type { LoadAuth } from '../../client/session.ts'
import { AccountShow } from './account/AccountShow.tsx'
import { DoorEdit } from './door/DoorEdit.tsx'
import { DraftList } from './letters/DraftList.tsx'
import { EditionsEdit } from './editions/EditionsEdit.tsx'
import { FirstStepsShow } from './first-steps/FirstStepsShow.tsx'
import { HistoryList } from './history/HistoryList.tsx'
import { hrefOf, isForReaders, unfilteredList, type Route } from './data/route.ts'
import { Heading } from './kit/Heading.tsx'
import { lazyScreen } from './kit/lazy-screen.tsx'
import { useTitle } from './kit/site-title.tsx'
import { useDesk } from './data/useDesk.tsx'
import { LettersShow } from './letters/LettersShow.tsx'
import { OutboxList } from './letters/OutboxList.tsx'
import { PersonShow } from './person/PersonShow.tsx'
import { ComingShow } from './places/ComingShow.tsx'
import { RetreatShow } from './places/RetreatShow.tsx'
import { GuestList } from './questions/GuestList.tsx'
import { QuestionsEdit } from './questions/QuestionsEdit.tsx'
import { RetentionEdit } from './retention/RetentionEdit.tsx'
import { RoomParts } from './RoomParts.tsx'
import { ClockNotice } from './session/ClockNotice.tsx'
import type { WatchedSession } from './session/watch-session.ts'
import { TemplateEdit } from './templates/TemplateEdit.tsx'

interface OtherScreenProps {
  route: Exclude<Route, { screen: 'list' | 'application' }>
  auth: LoadAuth
  session: WatchedSession
}

/** The preview needs the elements and the styles of the applicants' page and of the answer page. Only this screen loads them. */
const PageEdit = lazyScreen(async () => (await import('./page/PageEdit.tsx')).PageEdit, undefined, false)

/** All screens except the applications. They are in a separate script, so that the list opens without waiting for them. */
export function OtherScreen(props: OtherScreenProps) {
  const { isReader, letters } = useDesk()
  // Reads the numbers in the navigation.
  useQuery({ ...letters(), enabled: !isReader })
  if (isReader && !isForReaders(props.route)) return <NotForReaders />
  return (
    <>
      <ClockNotice />
      <RoomParts route={props.route} />
      <ScreenOf {...props} />
    </>
  )
}

function ScreenOf({ route, auth, session }: OtherScreenProps) {
  switch (route.screen) {
    case 'unknown':
      return <Unknown />
    case 'person':
      return <PersonShow id={route.id} filters={route.filters} />
    case 'coming':
      return <ComingShow edition={route.edition} />
    case 'retreat':
      return <RetreatShow edition={route.edition} />
    case 'questions':
      return <QuestionsEdit edition={route.edition} />
    case 'guests':
      return <GuestList edition={route.edition} />
    case 'retreats':
      return <EditionsEdit />
    case 'retention':
      return <RetentionEdit />
    case 'letters':
      return <LettersShow />
    case 'drafts':
      return <DraftList key={route.occasion} occasion={route.occasion} />
    case 'template':
      return <TemplateEdit key={route.occasion} occasion={route.occasion} />
    case 'outbox':
      return <OutboxList key={route.state} state={route.state} />
    case 'door':
      return <DoorEdit />
    case 'first-steps':
      return <FirstStepsShow />
    case 'page':
      return <PageEdit />
    case 'history':
      return <HistoryList />
    case 'account':
      return <AccountShow {...{ auth, session }} />
  }
}

function NotForReaders() {
  const title = 'Not for readers'
  useTitle(title)
  return (
    <>
      <Heading>{title}</Heading>
      <p>Readers may not open this screen: ask an organiser who may do everything.</p>
    </>
  )
}

function Unknown() {
  const title = 'Page not found'
  useTitle(title)
  return (
    <>
      <Heading>{title}</Heading>
      <p>
        No screen of the desk has this address. <a href={hrefOf(unfilteredList)}>Applications</a>
      </p>
    </>
  )
}
