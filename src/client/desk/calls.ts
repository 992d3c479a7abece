import type { Application } from '../../application/application.ts'
import type { Rsvp } from '../../application/statuses.ts'
import type {
  AddedPerson,
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
import type { ListedOrganiser, Marks, MarkValue, Organiser, Organisers, Reading } from './marks.ts'
import type { Question } from '../../application/questions.ts'
import type { AllAbout } from './person.ts'
import type { PageSettings } from './page.ts'
import type { GuestPage, Questions } from './questions.ts'
import type { Retention } from './retention.ts'
import type {
  Door,
  FirstStep,
  FirstSteps,
  GeneralHistoryEntry,
  HistoryPage,
  PageVisits,
  Places,
  ReminderOutcome,
  RetreatDays,
} from './retreat.ts'

/** The number of a retreat, which the code calls an edition; without it, the newest. */
interface EditionArgument {
  edition?: number | undefined
}

/**
 * The calls that only read, each with its arguments and its result. `supabase/schemas/` documents them.
 *
 * `edition` is the number of a retreat. `occasion` is the name of a template. `most` is the maximum number of rows.
 */
interface Reads {
  desk_me: [object, Organiser]
  desk_organisers: [object, Organisers]
  desk_list: [{ filter: Filter; after?: Cursor | null; most?: number }, ListPage]
  /** `oldest` is the position of the last shown row, in any order. (The field has its name from 1.0.0.) */
  desk_refresh: [
    { filter: Filter; zone: string; shown: Pick<Summary, 'id' | 'version'>[]; oldest: Cursor | null },
    { overview: Overview; changes: ListChanges },
  ]
  desk_junk: [object, JunkGroup[]]
  desk_select: [{ filter: Filter; after?: Cursor | null }, Page<SelectedApplication>]
  desk_export: [{ filter: Filter; after?: Cursor | null }, Page<ExportedApplication>]
  desk_application: [{ application: string; filter: Filter }, OpenedApplication]
  /** Reads the stamp of an application, which changes whenever the application does. */
  desk_stamp: [{ application: string }, Pick<OpenedApplication, 'stamp'>]
  desk_all_about: [{ application: string }, AllAbout]
  desk_blind: [object, Reading]
  desk_door: [object, Door & { history: GeneralHistoryEntry[] }]
  desk_history: [{ after: HistoryPage['next'] }, HistoryPage]
  desk_letters: [object, LettersOverview]
  /** Without an occasion (null), the drafts of all decisions. */
  desk_drafts: [{ occasion: string | null; after: LetterCursor | null }, LetterPage]
  desk_outbox: [{ state: OutboxState; after: LetterCursor | null }, LetterPage]
  desk_letters_of: [{ applications: string[] }, Letter[]]
  desk_address: [{ address: string }, Pick<Letter, 'failed_at'>]
  desk_preview: [PreviewText, Preview | null]
  desk_notices: [object, Notices]
  desk_places: [EditionArgument, Places]
  desk_visits: [object, PageVisits]
  desk_page: [object, PageSettings]
  desk_first_steps: [object, FirstSteps]
  desk_questions: [EditionArgument, Questions]
  desk_guests: [EditionArgument & { after: GuestPage['next'] }, GuestPage]
  desk_retention: [object, Retention]
}

/**
 * The calls that change something.
 *
 * `act` is the id of the act: a retry sends the same id, and has no second effect. `version` and `seen` identify the data and the
 * text that the organiser read; the call is refused if somebody has changed them meanwhile. `occasion` is the name of a template.
 */
interface Acts {
  /** Shows one application to an organiser who reads blind, with everything that blind reading hides. */
  desk_reveal: [{ act: string; application: string }, ApplicationDetails]
  desk_set_blind: [Pick<Reading, 'blind'>, Reading]
  desk_set_reads_only: [Pick<Reading, 'reads_only'>, Reading]
  desk_set_name: [{ name: string }, Organiser]
  /** Lets an organiser do everything, or only read, mark and write notes. The last who may do everything stays one. */
  desk_set_reader: [Pick<ListedOrganiser, 'account' | 'is_reader'>, Organisers]
  /** Removes an organiser, and the account if it is our own server's. */
  desk_remove_organiser: [Pick<ListedOrganiser, 'account'>, Organisers]
  /** Saves the organiser's mark of an application: yes, maybe or no. Null takes it back. */
  desk_mark: [{ act: string; application: string; mark: MarkValue | null; why: string }, Marks | null]
  desk_decide: [{ act: string; decisions: Decision[] }, DecisionOutcome[]]
  /**
   * Adds a person who did not apply. Nobody is told, unless `receipt` or `webhook` is set. Without `again`, nobody is added whose email
   * is in the newest retreat already.
   */
  desk_add: [
    {
      act: string
      person: Partial<Omit<Application, 'consent'>>
      again: boolean
      receipt: boolean
      webhook: boolean
    },
    AddedPerson,
  ]
  /** Remembers that the organiser has seen the notes about an application up to a time. */
  desk_see_notes: [{ application: string; until: string }, { until: string }]
  desk_note: [{ act: string; application: string; note: string }, HistoryEntry[]]
  desk_erase: [{ act: string; applications: string[]; email: string }, { erased: number }]
  desk_set_door: [Pick<Door, 'version' | 'closed' | 'sentence' | 'closes_at' | 'closes_after'>, Door]
  desk_check_mail: [object, { is_checking: boolean }]
  desk_send_test: [PreviewText & { act: string }, { to: string }]
  desk_set_notices: [Pick<Notices, 'notices'>, Notices]
  desk_set_template: [Omit<Template, 'version' | 'original'> & { version: number | null }, Template]
  desk_remove_template: [Pick<Template, 'occasion' | 'version'>, { removed: boolean }]
  /** Drafts letters from a template. `again`: even if the letter was sent to the applicant before. */
  desk_write: [{ act: string; applications: string[]; occasion: string; again?: boolean }, WriteOutcome[]]
  /** Drafts a letter to one person, without a template. */
  desk_write_to: [{ act: string; application: string; subject: string; body: string }, Letter]
  desk_edit: [{ letter: string; seen: string; subject: string; body: string }, Letter]
  desk_discard: [{ letters: string[] }, { discarded: number }]
  /**
   * Sends drafts, after a minute in which they can be stopped. `number` is how many letters the organiser expects to
   * send. For more than thirty letters it must be their number. `again` allows letters that were sent before.
   */
  desk_release: [
    { act: string; letters: Pick<Letter, 'id' | 'seen'>[]; number: number | null; again: boolean },
    ReleaseOutcome[],
  ]
  /** Stops letters before they are sent. `left` counts the applicants whose letter has left: it is being sent or was sent. */
  desk_withdraw: [{ letters: string[] } | { act: string }, { withdrawn: number; left: number }]
  desk_retry: [{ letters: string[] }, { retried: number }]
  /** Replaces an applicant's address and sends a failed letter there. `letter` is the id of the failed delivery. */
  desk_readdress: [{ act: string; letter: string; address: string }, Letter]
  /** Records that a sent letter came back: it counts as refused, and the applicant as not told. */
  desk_came_back: [{ act: string; letter: string }, Letter]
  /** Records that organisers reached the applicants in another way after letters failed. */
  desk_settle: [{ letters: string[] }, { settled: number }]
  /** Records that the organiser sent a draft from their own mail program. */
  desk_sent_by_hand: [{ letter: string; seen: string }, Letter]
  /** Returns a draft with its link, so that the organiser can open it in their own mail program. */
  desk_hand_over: [
    { act: string; letter: string; seen: string; site: string },
    Pick<Letter, 'subject' | 'body'>,
  ]
  desk_set_page: [Pick<PageSettings, 'version' | 'texts' | 'shown'>, PageSettings]
  desk_set_places: [Pick<Places, 'version' | 'places' | 'days' | 'zone'>, Places]
  desk_set_retreat: [EditionArgument & RetreatDays, Places]
  /** Ticks a first step by hand for all organisers, or unticks it. */
  desk_tick_step: [{ step: FirstStep; is_done: boolean }, FirstSteps]
  /** Sets an accepted person's RSVP; null removes it. */
  desk_set_answer: [{ act: string; application: string; answer: Rsvp | null }, ApplicationDetails]
  /** Sets the deadline of an accepted person. */
  desk_keep_until: [{ act: string; application: string; until: string }, ApplicationDetails]
  desk_remind: [EditionArgument & { act: string }, ReminderOutcome]
  desk_set_questions: [
    EditionArgument &
      Pick<Questions, 'version' | 'until' | 'private_days'> & {
        /** A question without an id is new. */
        questions: (Omit<Question, 'id'> & Partial<Pick<Question, 'id'>>)[]
      },
    Questions,
  ]
  /** Saves a guest's answers, by the ids of their questions. A blank text removes an answer. Other answers stay. */
  desk_answer_questions: [
    { act: string; application: string; answers: Record<string, string> },
    ApplicationDetails,
  ]
  /** Erases the private answers to questions whose day of erasure has come. */
  desk_erase_answers: [object, { erased: number }]
  desk_set_retention: [Pick<Retention, 'version' | 'months' | 'months_for_guests'>, Retention]
  /** Keeps an application from automatic erasure, for a reason. A blank reason ends the hold. */
  desk_hold: [{ act: string; application: string; reason: string }, ApplicationDetails]
  /** Erases at most 500 due applications. `due` counts those still to erase. */
  desk_erase_due: [{ act: string }, { erased: number; due: number }]
  /** Begins the next retreat. `newest` is the number of the newest retreat that the organiser saw. */
  desk_begin_edition: [
    { act: string; newest: number; copied: CopiedParts } & Pick<Edition, 'name' | 'starts_on' | 'ends_on'>,
    Places,
  ]
  desk_name_edition: [{ edition: number; name: string }, Places]
  /** Stops all letters, or resumes them. `leaving` counts the applicants whose letters are sent after a resume. */
  desk_stop: [{ stopped: boolean }, { stopped: boolean; leaving?: number }]
  desk_set_letters: [
    // Without a version, the reply address is left unchanged.
    (Pick<LetterSettings, 'version' | 'reply_to'> | { version: null; reply_to: null }) &
      Partial<Pick<LetterSettings, 'receipts' | 'confirmations'>>,
    LetterSettings,
  ]
}

/** Every call of the desk. Add a new call here and in `supabase/schemas/`; the compiler reports what else it needs. */
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
