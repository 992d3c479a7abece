import type { Rsvp } from '../../application/statuses.ts'
import type {
  Decision,
  DecisionOutcome,
  ExportedApplication,
  Filter,
  HistoryEntry,
  JunkGroup,
  ListChanges,
  ListPage,
  OpenedApplication,
  Overview,
  Page,
  Cursor,
  SelectedApplication,
  Summary,
  ApplicationDetails,
} from './applications.ts'
import type { CopiedParts, Edition } from './editions.ts'
import type {
  PreviewText,
  Letter,
  LetterPage,
  LetterCursor,
  LetterSettings,
  LettersOverview,
  Notices,
  OutboxState,
  Preview,
  ReleaseOutcome,
  Template,
  WriteOutcome,
} from './letters.ts'
import type { Marks, MarkValue, Reading } from './marks.ts'
import type { Question } from '../../application/questions.ts'
import type { AllAbout } from './person.ts'
import type { GuestPage, Questions } from './questions.ts'
import type { Retention } from './retention.ts'
import type {
  Door,
  GeneralHistoryEntry,
  HistoryPage,
  PageVisits,
  Places,
  ReminderOutcome,
  RetreatDays,
} from './retreat.ts'

/** The number of a retreat; without it, the newest. */
interface OfEdition {
  edition?: number | undefined
}

/** The calls that only read, each with its arguments and its result. `supabase/schemas/` documents them. */
interface Reads {
  desk_me: [object, { email: string }]
  desk_list: [{ filter: Filter; after?: Cursor | null; most?: number }, ListPage]
  desk_refresh: [
    { filter: Filter; zone: string; shown: Pick<Summary, 'id' | 'version'>[]; oldest: Cursor | null },
    { overview: Overview; changes: ListChanges },
  ]
  desk_junk: [object, JunkGroup[]]
  desk_select: [{ filter: Filter; after?: Cursor | null }, Page<SelectedApplication>]
  desk_export: [{ filter: Filter; after?: Cursor | null }, Page<ExportedApplication>]
  desk_application: [{ application: string; filter: Filter }, OpenedApplication]
  desk_stamp: [{ application: string }, Pick<OpenedApplication, 'stamp'>]
  desk_all_about: [{ application: string }, AllAbout]
  desk_blind: [object, Reading]
  desk_door: [object, Door & { history: GeneralHistoryEntry[] }]
  desk_history: [{ after: HistoryPage['next'] }, HistoryPage]
  desk_letters: [object, LettersOverview]
  desk_drafts: [{ occasion: string; after: LetterCursor | null }, LetterPage]
  desk_outbox: [{ state: OutboxState; after: LetterCursor | null }, LetterPage]
  desk_letters_of: [{ applications: string[] }, Letter[]]
  desk_preview: [PreviewText, Preview | null]
  desk_notices: [object, Notices]
  desk_places: [OfEdition, Places]
  desk_visits: [object, PageVisits]
  desk_questions: [OfEdition, Questions]
  desk_guests: [OfEdition & { after: GuestPage['next'] }, GuestPage]
  desk_retention: [object, Retention]
}

/** The calls that change something. */
interface Acts {
  desk_reveal: [{ act: string; application: string }, ApplicationDetails]
  desk_set_blind: [Pick<Reading, 'blind'>, Reading]
  desk_set_reads_only: [Pick<Reading, 'reads_only'>, Reading]
  desk_mark: [{ act: string; application: string; mark: MarkValue | null; why: string }, Marks | null]
  desk_decide: [{ act: string; decisions: Decision[] }, DecisionOutcome[]]
  desk_note: [{ act: string; application: string; note: string }, HistoryEntry[]]
  desk_erase: [{ act: string; applications: string[]; email: string }, { erased: number }]
  desk_set_door: [Pick<Door, 'version' | 'closed' | 'sentence' | 'closes_at' | 'closes_after'>, Door]
  desk_check_mail: [object, { is_checking: boolean }]
  desk_send_test: [PreviewText & { act: string }, { to: string }]
  desk_set_notices: [Pick<Notices, 'notices'>, Notices]
  desk_set_template: [Omit<Template, 'version'> & { version: number | null }, Template]
  desk_remove_template: [Pick<Template, 'occasion' | 'version'>, { removed: boolean }]
  desk_write: [{ act: string; applications: string[]; occasion: string; again?: boolean }, WriteOutcome[]]
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
    { act: string; letter: string; seen: string; site: string },
    Pick<Letter, 'subject' | 'body'>,
  ]
  desk_set_places: [Pick<Places, 'version' | 'places' | 'days' | 'zone'>, Places]
  desk_set_retreat: [OfEdition & RetreatDays, Places]
  desk_set_answer: [{ act: string; application: string; answer: Rsvp | null }, ApplicationDetails]
  desk_keep_until: [{ act: string; application: string; until: string }, ApplicationDetails]
  desk_remind: [OfEdition & { act: string }, ReminderOutcome]
  desk_set_questions: [
    OfEdition &
      Pick<Questions, 'version' | 'until' | 'private_days'> & {
        /** A question without an id is new. */
        questions: (Omit<Question, 'id'> & Partial<Pick<Question, 'id'>>)[]
      },
    Questions,
  ]
  /** `answers`: by the id of the question, blank to remove one. Answers that are not given stay. */
  desk_answer_questions: [
    { act: string; application: string; answers: Record<string, string> },
    ApplicationDetails,
  ]
  desk_erase_answers: [object, { erased: number }]
  desk_set_retention: [Pick<Retention, 'version' | 'months' | 'months_came'>, Retention]
  /** A blank reason ends it. */
  desk_hold: [{ act: string; application: string; reason: string }, ApplicationDetails]
  /** Up to 500 at a time. `due`: the number of those that are left. */
  desk_erase_due: [{ act: string }, { erased: number; due: number }]
  /** `newest`: the newest retreat that its author saw. */
  desk_begin_edition: [
    { act: string; newest: number; copied: CopiedParts } & Pick<Edition, 'name' | 'starts_on' | 'ends_on'>,
    Places,
  ]
  desk_name_edition: [{ edition: number; name: string }, Places]
  /** `leaving`: the number of letters that will be sent, but can still be stopped. */
  desk_stop: [{ stopped: boolean }, { stopped: boolean; leaving?: number }]
  desk_set_letters: [Pick<LetterSettings, 'version' | 'reply_to'> & Partial<LetterSettings>, LetterSettings]
}

/** Every call of the desk. Add a new one here and in `supabase/schemas/`; the compiler reports what else it needs. */
export interface Calls extends Reads, Acts {}

/** The name of a call that changes something. */
export type ActName = keyof Acts
/** The arguments of a call, by its name. */
export type Arguments<Name extends keyof Calls> = Calls[Name][0]
/** The result of a call, by its name. */
export type Result<Name extends keyof Calls> = Calls[Name][1]

/** The acts with an id, which makes them idempotent. */
export type ActWithId = {
  [Name in ActName]: Arguments<Name> extends { act: string } ? Name : never
}[ActName]

/** The database's functions for organisers: the calls, and functions that only earlier versions of the desk call. */
export type DeskFunction = keyof Calls | 'desk_letter_states' | 'desk_meanwhile' | 'desk_overview'
