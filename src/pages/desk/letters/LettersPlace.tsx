import type { CallDesk } from '../../../client/desk.ts'
import { DraftsScreen } from './DraftsScreen.tsx'
import { LettersScreen } from './LettersScreen.tsx'
import { OutboxScreen, outboxStateOf } from './OutboxScreen.tsx'
import { useLastPart } from './places.ts'
import { TemplateScreen } from './TemplateScreen.tsx'

/** The screen for an address within the letters. */
export function LettersPlace({ screen, callDesk }: { screen: string; callDesk: CallDesk }) {
  const name = useLastPart()
  switch (screen) {
    case 'drafts':
      return <DraftsScreen key={name} callDesk={callDesk} occasion={name} />
    case 'templates':
      return <TemplateScreen key={name} callDesk={callDesk} occasion={name} />
    case 'outbox':
      return <OutboxScreen key={name} callDesk={callDesk} state={outboxStateOf(name)} />
    default:
      return <LettersScreen callDesk={callDesk} />
  }
}
