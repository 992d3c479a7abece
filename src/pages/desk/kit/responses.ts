import type { InfiniteData, Query, QueryClient, QueryKey } from '@tanstack/react-query'

import type { OpenedApplication } from '../../../client/desk/applications.ts'
import type { ActName, Arguments, Calls, Result } from '../../../client/desk/calls.ts'
import type { Letter, LetterPage, LettersOverview } from '../../../client/desk/letters.ts'
import type { DecisionQueue } from './decision-queue.ts'

/** Access to the stored data that an act changes. */
interface Kept {
  queries: QueryClient
  queue: DecisionQueue
  /** Changes all stored data whose key starts with this. */
  change: <Read>(queryKey: QueryKey, change: (former: Read) => Read) => void
}

type Learn<Name extends ActName> = (kept: Kept, response: Result<Name>, given: Arguments<Name>) => void

/**
 * The change that each act's response makes to the stored data. It is shown immediately. Other stale data is read again
 * (`readAgain` in queries.ts).
 */
const learnt: { [Name in ActName]?: Learn<Name> } = {
  desk_note: ({ change }, history, { application }) =>
    change<OpenedApplication>(['application', application], (former) => ({ ...former, history })),
  desk_set_answer: ({ change }, whole, { application }) =>
    change<OpenedApplication>(['application', application], (former) => ({ ...former, ...whole })),
  desk_keep_until: ({ change }, whole, { application }) =>
    change<OpenedApplication>(['application', application], (former) => ({ ...former, ...whole })),
  desk_erase({ queries, queue }, _erased, { applications }) {
    queue.forget(applications)
    for (const id of applications) queries.removeQueries({ queryKey: ['application', id] })
    queries.removeQueries({ queryKey: ['list'] })
  },
  desk_set_blind({ queries, queue, change }, blind) {
    change(['account', 'blind'], () => blind)
    // Undo would show names.
    if (blind) queue.forget()
    // All data read before shows too much now, or too little.
    void queries.resetQueries({ predicate: ({ queryKey: [of] }) => of !== 'account' })
  },
  desk_set_notices: ({ change }, notices) => change(['account', 'notices'], () => notices),
  desk_set_door: ({ change }, door) =>
    change<Result<'desk_door'>>(['door'], (former) => ({ ...former, ...door })),
  desk_set_places: ({ change }, places) => change(['places'], () => places),

  desk_set_letters: (kept, saved) =>
    changeOverview(kept, ({ settings }) => ({ settings: { ...settings, ...saved } })),
  desk_set_template: (kept, saved) =>
    changeOverview(kept, ({ templates }) => {
      const { drafts = { count: 0, more: false } } = templates.find(isOf(saved)) ?? {}
      // The next read brings the right order.
      return { templates: [...templates.filter((each) => !isOf(saved)(each)), { ...saved, drafts }] }
    }),
  desk_remove_template: (kept, _removed, given) =>
    changeOverview(kept, ({ templates }) => ({ templates: templates.filter((each) => !isOf(given)(each)) })),
  desk_check_mail: (kept, { is_checking }) =>
    changeOverview(kept, ({ postman }) => ({ postman: { ...postman, is_checking } })),
  desk_stop: (kept, { stopped }) =>
    changeOverview(kept, ({ postman, leaving }) => ({
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
  desk_release(kept, outcomes, { act }) {
    const released = outcomes.filter(({ outcome }) => outcome === 'released')
    changePages(kept.change, ['letters', 'drafts'], without(released.map(({ id }) => id)))
    const count = new Set(released.map(({ application }) => application)).size
    changeOverview(kept, ({ leaving, settings: { hold_seconds: seconds } }) =>
      count === 0 || seconds === 0 ? {} : { leaving: [...leaving, { act, count, seconds }] },
    )
  },
  desk_withdraw(kept, { withdrawn }, given) {
    if ('act' in given)
      changeOverview(kept, ({ leaving }) => ({ leaving: leaving.filter(({ act }) => act !== given.act) }))
    else if (withdrawn > 0) changePages(kept.change, ['letters', 'outbox'], without(given.letters))
  },
  desk_retry: ({ change }, { retried }, { letters }) => {
    if (retried > 0) changePages(change, ['letters', 'outbox'], without(letters))
  },
  desk_settle: ({ change }, _settled, { letters }) =>
    changePages(change, ['letters', 'outbox'], without(letters)),
  desk_readdress: ({ change }, _letter, { letter }) =>
    changePages(change, ['letters', 'outbox'], without([letter])),
}

/** Returns a function that applies the response to an act to the stored data. */
export function learnerOf(queries: QueryClient, queue: DecisionQueue) {
  const change: Kept['change'] = <Read>(queryKey: QueryKey, become: (former: Read) => Read) => {
    // A read in progress began before the act, and its response would overwrite the change.
    const isReading = ({ state }: Query) => state.fetchStatus === 'fetching'
    queries.setQueriesData<Read>({ queryKey }, (former) =>
      former === undefined ? undefined : become(former),
    )
    void queries.refetchQueries({ queryKey, predicate: isReading })
  }
  return <Name extends ActName>(name: Name, response: Result<Name>, given: Arguments<Name>): void =>
    learnt[name]?.({ queries, queue, change }, response, given)
}

function changeOverview({ change }: Kept, become: (former: LettersOverview) => Partial<LettersOverview>) {
  change<Calls['desk_letters'][1]>(['letters', 'overview'], (former) => ({ ...former, ...become(former) }))
}

function changePages(change: Kept['change'], queryKey: QueryKey, become: (letters: Letter[]) => Letter[]) {
  change<InfiniteData<LetterPage>>(queryKey, (former) => ({
    ...former,
    pages: former.pages.map((page) => ({ ...page, letters: become(page.letters) })),
  }))
}

function changeLetters(change: Kept['change'], application: string, become: (letters: Letter[]) => Letter[]) {
  change<OpenedApplication>(['application', application], (former) => ({
    ...former,
    letters: become(former.letters),
  }))
}

function isOf({ occasion }: { occasion: string }) {
  return (other: { occasion: string }) => other.occasion === occasion
}

function without(ids: readonly string[]) {
  return (letters: Letter[]) => letters.filter(({ id }) => !ids.includes(id))
}
