import type { InfiniteData, Query, QueryClient, QueryKey } from '@tanstack/react-query'

import type { ApplicationDetails, OpenedApplication } from '../../../client/desk/applications.ts'
import type { ActName, Arguments, Result } from '../../../client/desk/calls.ts'
import type { Letter, LetterPage, LettersOverview } from '../../../client/desk/letters.ts'
import type { Questions } from '../../../client/desk/questions.ts'
import type { Places } from '../../../client/desk/retreat.ts'
import { announce } from '../kit/announce.tsx'
import type { DecisionQueue } from './decision-queue.ts'
import type { List } from './list.ts'

/** Access to the query cache and the decision queue, which an act changes. */
interface StoredData {
  queries: QueryClient
  queue: DecisionQueue
  /** Changes all data in the query cache whose key starts with `queryKey`. */
  change: <Read>(queryKey: QueryKey, change: (former: Read) => Read) => void
}

type ResponseHandler<Name extends ActName> = (
  data: StoredData,
  response: Result<Name>,
  args: Arguments<Name>,
) => void

/**
 * The change that each act's response makes to the query cache. It is shown immediately. Other stale data is read again
 * (refetched-by.ts).
 */
const responseHandlers: { [Name in ActName]?: ResponseHandler<Name> } = {
  desk_note: ({ change }, history, { application }) =>
    change<OpenedApplication>(['application', application], (former) => ({ ...former, history })),
  desk_mark: ({ change }, marks, { application }) =>
    change<OpenedApplication>(['application', application], (former) => ({ ...former, marks })),
  desk_set_answer: replaceDetails,
  desk_keep_until: replaceDetails,
  desk_answer_questions: replaceDetails,
  desk_hold: replaceDetails,
  desk_erase({ queries, queue, change }, _erased, { applications }) {
    queue.forget(applications)
    for (const id of applications) queries.removeQueries({ queryKey: ['application', id] })
    change<List>(['list'], (former) => ({
      ...former,
      applications: former.applications.filter(({ id }) => !applications.includes(id)),
    }))
  },
  desk_erase_due: ({ queries }) => queries.removeQueries({ queryKey: ['list'] }),
  desk_set_reads_only: ({ change }, mode) => change(['reading'], () => mode),
  desk_set_blind({ queries, queue, change }, mode) {
    change(['reading'], () => mode)
    dropReadData(queries, queue, mode.blind)
  },
  desk_set_notices: ({ change }, notices) => change(['account', 'notices'], () => notices),
  desk_set_door: ({ change }, door) =>
    change<Result<'desk_door'>>(['door'], (former) => ({ ...former, ...door })),
  desk_set_places: replacePlaces,
  desk_set_retreat: replacePlaces,
  desk_set_questions: ({ change }, questions) =>
    change<Questions>(['questions', 'list'], (former) =>
      former.edition === questions.edition ? questions : former,
    ),
  desk_name_edition: replacePlaces,
  desk_tick_step: ({ change }, steps) => change(['first steps'], () => steps),
  desk_set_retention: ({ change }, retention) => change(['retention'], () => retention),

  desk_set_letters: (data, saved) =>
    changeOverview(data, ({ settings }) => ({ settings: { ...settings, ...saved } })),
  desk_set_template: (data, saved) =>
    changeOverview(data, ({ templates }) => {
      const { drafts = { count: 0, more: false } } = templates.find(isOf(saved)) ?? {}
      // The next read returns the right order.
      return { templates: [...templates.filter((each) => !isOf(saved)(each)), { ...saved, drafts }] }
    }),
  desk_remove_template: (data, _removed, args) =>
    changeOverview(data, ({ templates }) => ({ templates: templates.filter((each) => !isOf(args)(each)) })),
  desk_check_mail: (data, { is_checking }) =>
    changeOverview(data, ({ postman }) => ({ postman: { ...postman, is_checking } })),
  desk_stop: (data, { stopped }) =>
    changeOverview(data, ({ postman, leaving }) => ({
      postman: { ...postman, stopped },
      leaving: stopped ? [] : leaving,
    })),

  desk_edit: ({ change }, draft) => {
    const replace = (letters: Letter[]) => letters.map((each) => (each.id === draft.id ? draft : each))
    changePages(change, ['letters', 'drafts'], replace)
    changeLetters(change, draft.application, replace)
  },
  desk_write_to: ({ change }, draft) =>
    changeLetters(change, draft.application, (letters) => [...without([draft.id])(letters), draft]),
  desk_discard: ({ change }, _discarded, { letters }) => {
    changePages(change, ['letters', 'drafts'], without(letters))
    change<OpenedApplication>(['application'], (former) => ({
      ...former,
      letters: without(letters)(former.letters),
    }))
  },
  desk_sent_by_hand: ({ change }, _sent, { letter }) =>
    changePages(change, ['letters', 'drafts'], without([letter])),
  desk_release(data, outcomes, { act }) {
    const released = outcomes.filter(({ outcome }) => outcome === 'released')
    changePages(data.change, ['letters', 'drafts'], without(released.map(({ id }) => id)))
    const count = new Set(released.map(({ application }) => application)).size
    // `leaving`: the letters that were released and can still be stopped, by act.
    changeOverview(data, ({ leaving, settings: { hold_seconds: seconds } }) =>
      count === 0 || seconds === 0 ? {} : { leaving: [...leaving, { act, count, seconds }] },
    )
  },
  desk_withdraw(data, { withdrawn }, args) {
    if ('act' in args)
      changeOverview(data, ({ leaving }) => ({ leaving: leaving.filter(({ act }) => act !== args.act) }))
    else if (withdrawn > 0) changePages(data.change, ['letters', 'outbox'], without(args.letters))
  },
  desk_retry: ({ change }, { retried }, { letters }) => {
    if (retried > 0) changePages(change, ['letters', 'outbox'], without(letters))
  },
  desk_settle: ({ change }, _settled, { letters }) =>
    changePages(change, ['letters', 'outbox'], without(letters)),
  desk_readdress: ({ change }, _letter, { letter }) =>
    changePages(change, ['letters', 'outbox'], without([letter])),
}

/** Drops all data that was read before blind reading was switched on or off: it shows too much or too little. */
export function dropReadData(queries: QueryClient, queue: DecisionQueue, isBlind: boolean): void {
  if (isBlind) {
    forgetDecisions(queue)
    // The last announcement may have a name.
    announce('')
  }
  void queries.resetQueries({
    predicate: ({ queryKey: [subject] }) => subject !== 'account' && subject !== 'reading',
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

/** Returns a function that changes the query cache as an act's response says. */
export function responseHandlerOf(queries: QueryClient, queue: DecisionQueue) {
  const change: StoredData['change'] = <Read>(queryKey: QueryKey, update: (former: Read) => Read) => {
    // A read in progress may have begun before the act. Its response would then overwrite the change.
    const isReading = ({ state }: Query) => state.fetchStatus === 'fetching'
    queries.setQueriesData<Read>({ queryKey }, (former) =>
      former === undefined ? undefined : update(former),
    )
    void queries.refetchQueries({ queryKey, predicate: isReading })
  }
  return <Name extends ActName>(name: Name, response: Result<Name>, args: Arguments<Name>): void =>
    responseHandlers[name]?.({ queries, queue, change }, response, args)
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
