import type { AllAbout, DeliveryAbout } from '../../../client/desk/person.ts'
import { countOf, dayOf, momentOf } from '../kit/format.ts'

/** The sentence about backups. They are files on a server or a project's own, which the desk cannot read. */
export const backupWords = 'Backups, if there are any, have this too, until they are removed.'

const kinds: Record<DeliveryAbout['kind'], string> = {
  application: 'Application',
  rsvp: 'RSVP',
  decision: 'Decision',
  letter: 'Letter',
  receipt: 'Receipt',
  notice: 'Notice to an organiser',
  test: 'Test of a letter',
}

/** A delivery and its recipient: `Letter to ada@example.com`. */
export function deliveryName({ kind, recipient }: Pick<DeliveryAbout, 'kind' | 'recipient'>): string {
  return `${kinds[kind]} to ${recipient === 'webhook' ? 'the connected system' : recipient}`
}

/** The steps and the state of a delivery, in words and in order of time. */
export function deliveryWords(delivery: DeliveryAbout): string {
  const { state, by, attempts, due_at, done_at, recalled_at, reply_status, may_have_arrived, since, until } =
    delivery
  const words = [
    since !== null && until !== null && `about ${momentOf(since)} to ${momentOf(until)}`,
    `written ${momentOf(delivery.queued_at)}`,
    delivery.author !== null && `by ${delivery.author}`,
    attempts > 0 && `${attempts} ${attempts === 1 ? 'try' : 'tries'}`,
    delivery.tried_at !== null &&
      (attempts > 1 || done_at === null) &&
      `the last ${momentOf(delivery.tried_at)}`,
    may_have_arrived > 0 && `${countOf(may_have_arrived, 'result')} unknown`,
    done_at !== null && `${doneWords[by]} ${momentOf(done_at)}`,
    recalled_at !== null && `stopped ${momentOf(recalled_at)} ${recallerOf(delivery)}`,
    state === 'failed' && (delivery.is_refused ? 'refused' : 'given up'),
    state === 'cancelled' && recalled_at === null && 'stopped',
    due_at !== null && waitingWords(delivery, due_at),
    ...delivery.failures.map(({ address, at }) => `not delivered to ${address} ${momentOf(at)}`),
    reply_status !== null && `response ${reply_status}`,
    delivery.reply !== '' && `reply “${delivery.reply}”`,
  ]
  return words.filter((word) => word !== false).join(', ')
}

/** The words for a waiting delivery. Without `WEBHOOK_URL`, a delivery to the webhook waits even if it is due. */
function waitingWords({ state, recipient, attempts }: DeliveryAbout, dueAt: string) {
  if (state === 'sending') return 'being sent'
  return recipient === 'webhook' && attempts === 0 ? 'not passed on so far' : `due ${momentOf(dueAt)}`
}

const doneWords = { server: 'sent', hand: 'sent by hand', elsewhere: 'contacted another way' }

function recallerOf({ recalled_by }: DeliveryAbout) {
  return recalled_by === null ? 'automatically' : `by ${recalled_by}`
}

const letterStates = { draft: 'Draft', released: 'Sent or to be sent', dropped: 'Dropped' }

/** A letter's state: `Draft, written 31 Dec 2026, 10:03`. */
export function letterWords({
  state,
  drafted_at,
}: AllAbout['applications'][number]['letters'][number]): string {
  return `${letterStates[state]}, written ${momentOf(drafted_at)}`
}

/** The call of an act, as words: `desk_answer_questions` is `answer questions`. */
export function callWords(call: string): string {
  return call.replace(/^desk_/, '').replaceAll('_', ' ')
}

/** The deadline of an invitation, and whether an organiser set it; null if there is none. */
export function deadlineWords({
  deadline,
  is_deadline_set,
}: {
  deadline: string | null
  is_deadline_set: boolean
}) {
  return deadline === null ? null : `${dayOf(deadline)}${is_deadline_set ? ', set by an organiser' : ''}`
}
