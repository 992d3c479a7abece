import type { Answer } from '../application/statuses.ts'
import type {
  Decision,
  DecisionOutcome,
  Exported,
  Filter,
  Happening,
  ListPage,
  Meanwhile,
  Opened,
  Overview,
  Page,
  Position,
  Selected,
  Summary,
  Whole,
} from './desk/applications.ts'
import type {
  Example,
  Letter,
  LetterPage,
  LetterPosition,
  LetterSettings,
  LettersOverview,
  Notices,
  OutboxState,
  Preview,
  ReleaseOutcome,
  Template,
  WriteOutcome,
} from './desk/letters.ts'
import type { Door, GeneralHappening, HistoryPage, Places, Reminded } from './desk/retreat.ts'
import type { CallFunction } from './rpc.ts'

/** The functions of the desk: see `supabase/schemas/` for what each does. */
export interface Functions {
  desk_me: [object, { email: string }]
  desk_list: [{ filter: Filter; after?: Position | null }, ListPage]
  desk_meanwhile: [
    { filter: Filter; shown: Pick<Summary, 'id' | 'version'>[]; oldest: Position | null },
    Meanwhile,
  ]
  desk_overview: [{ filter: Filter; zone: string }, Overview]
  desk_select: [{ filter: Filter; after?: Position | null }, Page<Selected>]
  desk_export: [{ filter: Filter; after?: Position | null }, Page<Exported>]
  desk_application: [{ application: string; filter: Filter }, Opened]
  desk_stamp: [{ application: string }, Pick<Opened, 'stamp'>]
  desk_reveal: [{ act: string; application: string }, Whole]
  desk_blind: [object, { blind: boolean }]
  desk_set_blind: [{ blind: boolean }, { blind: boolean }]
  desk_decide: [{ act: string; decisions: Decision[] }, DecisionOutcome[]]
  desk_note: [{ act: string; application: string; note: string }, Happening[]]
  desk_erase: [{ act: string; applications: string[]; email: string }, { erased: number }]
  desk_door: [object, Door & { history: GeneralHappening[] }]
  desk_history: [{ after: HistoryPage['next'] }, HistoryPage]
  desk_set_door: [Pick<Door, 'version' | 'closed' | 'sentence' | 'closes_at' | 'closes_after'>, Door]
  desk_letters: [object, LettersOverview]
  desk_check_mail: [object, { is_checking: boolean }]
  desk_drafts: [{ occasion: string; after: LetterPosition | null }, LetterPage]
  desk_outbox: [{ state: OutboxState; after: LetterPosition | null }, LetterPage]
  desk_letters_of: [{ applications: string[] }, Letter[]]
  desk_preview: [Example, Preview | null]
  desk_send_test: [Example & { act: string }, { to: string }]
  desk_notices: [object, Notices]
  desk_set_notices: [Pick<Notices, 'notices'>, Notices]
  desk_set_template: [Omit<Template, 'version'> & { version: number | null }, Template]
  desk_remove_template: [Pick<Template, 'occasion' | 'version'>, { removed: boolean }]
  desk_write: [{ applications: string[]; occasion: string; again?: boolean }, WriteOutcome[]]
  desk_write_to: [{ act: string; application: string; subject: string; body: string }, Letter]
  desk_edit: [{ letter: string; seen: string; subject: string; body: string }, Letter]
  desk_discard: [{ letters: string[] }, { discarded: number }]
  desk_release: [
    { act: string; letters: Pick<Letter, 'id' | 'seen'>[]; number: number | null; again: boolean },
    ReleaseOutcome[],
  ]
  desk_withdraw: [{ letters: string[] } | { act: string }, { withdrawn: number; left: number }]
  desk_retry: [{ letters: string[] }, { retried: number }]
  desk_readdress: [{ act: string; letter: string; address: string }, Letter]
  desk_settle: [{ letters: string[] }, { settled: number }]
  desk_sent_by_hand: [{ letter: string; seen: string }, Letter]
  desk_hand_over: [
    { act: string; letter: string; seen: string; site: string; zone: string },
    Pick<Letter, 'subject' | 'body'>,
  ]
  desk_places: [{ zone: string }, Places]
  desk_set_places: [Pick<Places, 'version' | 'places' | 'days'>, Places]
  desk_set_answer: [{ act: string; application: string; answer: Answer | null }, Whole]
  desk_keep_until: [{ act: string; application: string; until: string }, Whole]
  desk_remind: [object, Reminded]
  desk_stop: [{ stopped: boolean }, { stopped: boolean }]
  desk_set_letters: [LetterSettings, LetterSettings]
}

/** Milliseconds after which a call is given up: longer than a server waits for its database. */
const timeout = 20_000

/** Calls a function of the desk. */
export type CallDesk = <Name extends keyof Functions>(
  name: Name,
  given: Functions[Name][0],
  signal?: AbortSignal,
) => Promise<Functions[Name][1]>

/**
 * The desk's functions, called as whoever is signed in.
 *
 * @returns A call that throws a `RefusedCall` where the database refuses, a `TypeError` where no answer came, and a
 *   `DOMException` where none came in time.
 */
export function createDesk(call: CallFunction): CallDesk {
  return async (name, given, signal) => {
    const inTime = AbortSignal.timeout(timeout)
    return (await call(name, given, signal ? AbortSignal.any([signal, inTime]) : inTime)) as never
  }
}
