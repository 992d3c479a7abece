import type { InfiniteData, Query, QueryClient, QueryKey } from '@tanstack/react-query'

import type { ApplicationDetails, OpenedApplication } from '../../../client/desk/applications.ts'
import type { ActName, ActWithId, Arguments, Result } from '../../../client/desk/calls.ts'
import type { Letter, LetterPage, LettersOverview } from '../../../client/desk/letters.ts'
import type { Questions } from '../../../client/desk/questions.ts'
import type { Places } from '../../../client/desk/retreat.ts'
import { announce } from '../kit/announce.tsx'
import type { DecisionQueue } from './decision-queue.ts'
import type { FailedActs } from './failed-acts.ts'
import type { List } from './list.ts'
import type { KeyPrefix } from './queries.ts'

/** The name of an act of a screen. Decisions have a queue of their own (decision-queue.ts). */
export type DeskActName = Exclude<ActName, 'desk_decide'>

/** What the desk keeps, besides the data that it has read. */
interface Kept {
  queue: DecisionQueue
  failedActs: FailedActs
}

/** Access to the query cache and to what the desk keeps, which an act changes. */
interface StoredData extends Kept {
  queries: QueryClient
  /** Changes all data in the query cache whose key starts with `queryKey`. */
  change: <Read>(queryKey: QueryKey, change: (former: Read) => Read) => void
}

/** What the desk knows about an act, besides its arguments and its result. */
type Act<Name extends DeskActName> = {
  /** Changes the query cache as the response says. It is shown immediately. */
  change?: (data: StoredData, response: Result<Name>, args: Arguments<Name>) => void
  /** The query keys to read again after the act, whether it succeeded or not. */
  stale: readonly KeyPrefix[]
  /** The sentence for a failure; by default `Not saved.` */
  failure?: string | ((args: Arguments<Name>) => string)
} & (Name extends ActWithId
  ? {
      /** Whether it has an id: a call repeated with the same id has no second effect. */
      once: true
    }
  : { once?: never })

/** The keys of everything that shows letters, including applications and lists. */
const withLetters: KeyPrefix[] = ['letters', 'application', 'list changes']

/** All acts of the screens. */
export const acts: { readonly [Name in DeskActName]: Act<Name> } = {
  desk_reveal: {
    once: true,
    stale: ['application'],
    failure: 'Not revealed.',
  },
  desk_see_notes: {
    change({ change }, { until }, { application }) {
      const withoutIt = <Read extends Pick<List, 'new_notes'>>(former: Read) => ({
        ...former,
        new_notes: former.new_notes.filter((id) => id !== application),
      })
      change<OpenedApplication>(['application', application], (former) => ({
        ...former,
        notes_seen_until: until,
      }))
      change<List>(['list'], withoutIt)
      change<Result<'desk_refresh'>>(['list changes'], (former) => ({
        ...former,
        changes: withoutIt(former.changes),
      }))
    },
    stale: [],
  },
  desk_note: {
    once: true,
    change: ({ change }, history, { application }) =>
      change<OpenedApplication>(['application', application], (former) => ({ ...former, history })),
    stale: [],
    failure: 'Note not added.',
  },
  desk_add: {
    once: true,
    stale: ['list changes', 'application'],
    failure: 'Not added.',
  },
  desk_erase: {
    once: true,
    change({ queries, queue, change }, _erased, { applications }) {
      queue.forget(applications)
      for (const id of applications) queries.removeQueries({ queryKey: ['application', id] })
      change<List>(['list'], (former) => ({
        ...former,
        applications: former.applications.filter(({ id }) => !applications.includes(id)),
      }))
    },
    stale: ['list changes', 'letters', 'application', 'places', 'junk'],
    failure: 'Not erased.',
  },
  desk_mark: {
    once: true,
    change: ({ change }, marks, { application }) =>
      change<OpenedApplication>(['application', application], (former) => ({ ...former, marks })),
    stale: ['list changes'],
    failure: 'Mark not saved.',
  },
  desk_set_blind: {
    change(data, mode) {
      data.change(['reading'], () => mode)
      dropReadData(data.queries, data, mode.blind)
    },
    stale: ['reading'],
    failure: 'Not switched.',
  },
  desk_set_reads_only: {
    change: ({ change }, mode) => change(['reading'], () => mode),
    stale: ['application', 'reading'],
    failure: 'Not switched.',
  },
  desk_set_name: {
    change: ({ change }, organiser) => change(['account', 'me'], () => organiser),
    stale: ['list changes', 'application', 'letters', 'retention', 'door', 'page'],
  },
  desk_set_reader: {
    change: ({ change }, organisers) => change(['organisers'], () => organisers),
    stale: ['organisers'],
    failure: 'Not switched.',
  },
  desk_remove_organiser: {
    change: ({ change }, organisers) => change(['organisers'], () => organisers),
    stale: ['organisers'],
    failure: 'Not removed.',
  },
  desk_set_notices: {
    change: ({ change }, notices) => change(['account', 'notices'], () => notices),
    stale: [],
  },
  desk_set_door: {
    change: ({ change }, door) => change<Result<'desk_door'>>(['door'], (former) => ({ ...former, ...door })),
    stale: ['door'],
  },
  desk_tick_step: {
    change: ({ change }, steps) => change(['first steps'], () => steps),
    // Responses to several ticks may cross.
    stale: ['first steps'],
  },
  desk_set_template: {
    change: (data, saved) =>
      changeOverview(data, ({ templates }) => {
        const { drafts = { count: 0, more: false } } = templates.find(isOf(saved)) ?? {}
        // The next read returns the right order.
        return { templates: [...templates.filter((each) => !isOf(saved)(each)), { ...saved, drafts }] }
      }),
    stale: withLetters,
  },
  desk_remove_template: {
    change: (data, _removed, args) =>
      changeOverview(data, ({ templates }) => ({ templates: templates.filter((each) => !isOf(args)(each)) })),
    stale: withLetters,
    failure: 'Not removed.',
  },
  desk_set_letters: {
    change: (data, saved) =>
      changeOverview(data, ({ settings }) => ({ settings: { ...settings, ...saved } })),
    stale: withLetters,
  },
  desk_send_test: {
    once: true,
    stale: [],
    failure: 'No test email was sent.',
  },
  desk_check_mail: {
    change: (data, { is_checking }) =>
      changeOverview(data, ({ postman }) => ({ postman: { ...postman, is_checking } })),
    stale: ['letters'],
    failure: 'Not checked.',
  },
  desk_stop: {
    change: (data, { stopped }) =>
      changeOverview(data, ({ postman, leaving }) => ({
        postman: { ...postman, stopped },
        leaving: stopped ? [] : leaving,
      })),
    stale: withLetters,
    failure: ({ stopped }) => (stopped ? 'Letters are not stopped.' : 'Letters are still stopped.'),
  },
  desk_write: {
    once: true,
    stale: withLetters,
    failure: 'Not drafted.',
  },
  desk_write_to: {
    once: true,
    change: ({ change }, draft) =>
      changeLetters(change, draft.application, (letters) => [...without([draft.id])(letters), draft]),
    stale: withLetters,
    failure: 'Draft not saved.',
  },
  desk_edit: {
    change: ({ change }, draft) => {
      const replace = (letters: Letter[]) => letters.map((each) => (each.id === draft.id ? draft : each))
      changePages(change, ['letters', 'drafts'], replace)
      changeLetters(change, draft.application, replace)
    },
    stale: withLetters,
  },
  desk_discard: {
    change: ({ change }, _discarded, { letters }) => {
      changePages(change, ['letters', 'drafts'], without(letters))
      change<OpenedApplication>(['application'], (former) => ({
        ...former,
        letters: without(letters)(former.letters),
      }))
    },
    stale: withLetters,
    failure: 'Not removed.',
  },
  desk_release: {
    once: true,
    change(data, outcomes, { act }) {
      const released = outcomes.filter(({ outcome }) => outcome === 'released')
      changePages(data.change, ['letters', 'drafts'], without(released.map(({ id }) => id)))
      const count = new Set(released.map(({ application }) => application)).size
      // `leaving`: the letters that were released and can still be stopped, by act.
      changeOverview(data, ({ leaving, settings: { hold_seconds: seconds } }) =>
        count === 0 || seconds === 0 ? {} : { leaving: [...leaving, { act, count, seconds }] },
      )
    },
    stale: withLetters,
    failure: 'Not sent.',
  },
  desk_withdraw: {
    change(data, { withdrawn }, args) {
      if ('act' in args)
        changeOverview(data, ({ leaving }) => ({ leaving: leaving.filter(({ act }) => act !== args.act) }))
      else if (withdrawn > 0) {
        changePages(data.change, ['letters', 'outbox'], without(args.letters))
        data.change<OpenedApplication>(['application'], (former) => ({
          ...former,
          letters: former.letters.map((each) =>
            args.letters.includes(each.id) ? { ...each, state: 'withdrawn' } : each,
          ),
        }))
      }
    },
    stale: withLetters,
    failure: 'Not stopped.',
  },
  desk_sent_by_hand: {
    change: ({ change }, _sent, { letter }) => changePages(change, ['letters', 'drafts'], without([letter])),
    stale: withLetters,
    failure: 'Not noted.',
  },
  desk_retry: {
    change: ({ change }, { retried }, { letters }) => {
      if (retried > 0) changePages(change, ['letters', 'outbox'], without(letters))
    },
    stale: withLetters,
    failure: 'Not retried.',
  },
  desk_readdress: {
    once: true,
    change: ({ change }, _letter, { letter }) =>
      changePages(change, ['letters', 'outbox'], without([letter])),
    stale: withLetters,
    failure: ({ address }) => `Not sent to ${address}.`,
  },
  desk_came_back: {
    once: true,
    change: ({ change }, letter) =>
      changeLetters(change, letter.application, (letters) =>
        letters.map((each) => (each.id === letter.id ? letter : each)),
      ),
    stale: [...withLetters, 'places'],
  },
  desk_settle: {
    change: ({ change }, _settled, { letters }) =>
      changePages(change, ['letters', 'outbox'], without(letters)),
    stale: withLetters,
  },
  desk_hand_over: {
    once: true,
    stale: ['application'],
    failure: 'Not opened.',
  },
  desk_remind: {
    once: true,
    stale: [...withLetters, 'places'],
    failure: 'No reminder drafted.',
  },
  desk_set_page: {
    stale: ['page'],
  },
  desk_set_places: {
    change: replacePlaces,
    stale: ['places'],
  },
  desk_set_retreat: {
    change: replacePlaces,
    stale: ['places'],
  },
  desk_set_answer: {
    once: true,
    change: replaceDetails,
    stale: [...withLetters, 'places'],
  },
  desk_keep_until: {
    once: true,
    change: replaceDetails,
    stale: [...withLetters, 'places'],
  },
  desk_set_questions: {
    change: ({ change }, questions) =>
      change<Questions>(['questions', 'list'], (former) =>
        former.edition === questions.edition ? questions : former,
      ),
    stale: ['questions', 'places'],
  },
  desk_answer_questions: {
    once: true,
    change: replaceDetails,
    stale: [...withLetters, 'places', 'questions'],
    failure: 'Answers not saved.',
  },
  desk_erase_answers: {
    stale: ['questions'],
    failure: 'Not erased.',
  },
  desk_set_retention: {
    change: ({ change }, retention) => change(['retention'], () => retention),
    stale: ['retention', 'places'],
  },
  desk_hold: {
    once: true,
    change: replaceDetails,
    stale: ['retention'],
  },
  desk_erase_due: {
    once: true,
    change: ({ queries }) => queries.removeQueries({ queryKey: ['list'] }),
    stale: ['retention', 'list changes', 'letters', 'application', 'places', 'junk'],
    failure: 'Not erased.',
  },
  desk_begin_edition: {
    once: true,
    change({ queries, queue }, places) {
      // Otherwise Undo would offer a decision about the former retreat. While a decision is being sent, nothing is forgotten.
      if (!queue.isWaiting()) queue.forget()
      queries.setQueryData(['places', undefined], places)
      // The lists and positions of the former retreat must not appear for a moment.
      for (const subject of ['list', 'opened', 'junk']) queries.removeQueries({ queryKey: [subject] })
    },
    stale: [...withLetters, 'places', 'questions', 'door', 'page'],
    failure: 'Not started.',
  },
  desk_name_edition: {
    change: replacePlaces,
    stale: ['places', 'list changes'],
  },
}

/** Drops all data that was read before blind reading was switched on or off: it shows too much or too little. */
export function dropReadData(queries: QueryClient, { queue, failedActs }: Kept, isBlind: boolean): void {
  if (isBlind) {
    forgetDecisions(queue)
    // Failures and the last announcement may have a name.
    failedActs.forget()
    announce('')
  }
  void queries.resetQueries({
    predicate: ({ queryKey: [subject] }) => !['account', 'reading', 'organisers'].includes(String(subject)),
  })
}

/** Forgets all decisions, because Undo would show names. Pending ones are forgotten when their outcome has been announced. */
function forgetDecisions(queue: DecisionQueue) {
  queue.forget()
  if (!queue.isWaiting()) return
  const unsubscribe = queue.subscribe(() => {
    if (queue.isWaiting()) return
    unsubscribe()
    queueMicrotask(() => queue.forget())
  })
}

/** Returns a function that changes the query cache as the response of an act says. */
export function responseHandlerOf(queries: QueryClient, kept: Kept) {
  const change: StoredData['change'] = <Read>(queryKey: QueryKey, update: (former: Read) => Read) => {
    // A read in progress may have begun before the act. Its response would then overwrite the change.
    const isReading = ({ state }: Query) => state.fetchStatus === 'fetching'
    queries.setQueriesData<Read>({ queryKey }, (former) =>
      former === undefined ? undefined : update(former),
    )
    void queries.refetchQueries({ queryKey, predicate: isReading })
  }
  return <Name extends DeskActName>(name: Name, response: Result<Name>, args: Arguments<Name>): void =>
    acts[name].change?.({ queries, ...kept, change }, response, args)
}

function replaceDetails(
  { change }: StoredData,
  details: ApplicationDetails,
  { application }: { application: string },
) {
  change<OpenedApplication>(['application', application], (former) => ({ ...former, ...details }))
}

function replacePlaces({ change }: StoredData, places: Places) {
  change<Places>(['places'], (former) => (former.edition === places.edition ? places : former))
}

function changeOverview(
  { queries, change }: StoredData,
  update: (former: LettersOverview) => Partial<LettersOverview>,
) {
  const queryKey = ['letters', 'overview']
  // The change makes the stored overview count as read now.
  const age = (Date.now() - (queries.getQueryState(queryKey)?.dataUpdatedAt ?? 0)) / 1000
  change<LettersOverview>(queryKey, (former) => {
    const leaving = former.leaving.map((each) => ({ ...each, seconds: each.seconds - age }))
    const current = { ...former, leaving }
    return { ...current, ...update(current) }
  })
}

function changePages(
  change: StoredData['change'],
  queryKey: QueryKey,
  update: (letters: Letter[]) => Letter[],
) {
  change<InfiniteData<LetterPage>>(queryKey, (former) => ({
    ...former,
    pages: former.pages.map((page) => ({ ...page, letters: update(page.letters) })),
  }))
}

function changeLetters(
  change: StoredData['change'],
  application: string,
  update: (letters: Letter[]) => Letter[],
) {
  change<OpenedApplication>(['application', application], (former) => ({
    ...former,
    letters: update(former.letters),
  }))
}

function isOf({ occasion }: { occasion: string }) {
  return (other: { occasion: string }) => other.occasion === occasion
}

function without(ids: readonly string[]) {
  return (letters: Letter[]) => letters.filter(({ id }) => !ids.includes(id))
}
