import { closedSentence } from '../../../application/limits.ts'
import type { Door, GeneralHappening } from '../../../client/desk.ts'
import { momentOf } from '../dates.ts'

type DoorState = Omit<Door, 'version' | 'opened_at'>

/** How the door stands, in one sentence. */
export function doorSentence(door: DoorState): string {
  if (!door.is_open) return `The door is closed${reasonOf(door)}. Applicants read: “${sentenceFor(door)}”`
  return `${['The door is open', ...limitsOf(door)].join(', ')}.`
}

function limitsOf({ closes_at: at, closes_after: after, received }: DoorState) {
  return [
    ...(at === null ? [] : [`until ${momentOf(at)}`]),
    ...(after === null
      ? []
      : [
          `for ${countOf(after - received, 'more application')}: ${inDigits(received)} of ${inDigits(after)} came`,
        ]),
  ]
}

/** Why it is closed, where nobody closed it by hand. */
function reasonOf({ closed, closes_at: at, closes_after: after, received }: DoorState) {
  if (closed) return ''
  if (after !== null && received >= after)
    return `: ${countOf(after, 'application')} came, as many as it was to take`
  return at === null ? '' : ` since ${momentOf(at)}`
}

/** What an organiser did to no application, in a few words. */
export function wordsOf(happening: GeneralHappening): string {
  switch (happening.kind) {
    case 'door':
      return doorWordsOf(happening.detail)
    case 'erased':
      return `${countOf(happening.detail.applications, 'application')} erased`
    case 'blind':
      return `Own blind reading ${happening.detail.on ? 'on' : 'off'}`
    case 'letters':
      return letterWordsOf(happening.detail)
  }
}

function letterWordsOf({
  template,
  removed,
  stopped,
  receipts,
  reply_to: replyTo,
}: Extract<GeneralHappening, { kind: 'letters' }>['detail']) {
  if (template !== undefined) return `Template of letters changed: “${template}”`
  if (removed !== undefined) return `Template of letters removed: “${removed}”`
  if (stopped !== undefined) return stopped ? 'All letters stopped' : 'Letters may leave again'
  if (receipts !== undefined) return `Receipts switched ${receipts ? 'on' : 'off'}`
  return replyTo ? `Answers to letters go to ${replyTo}` : 'Answers to letters go to the sender'
}

function doorWordsOf(door: Omit<DoorState, 'received'>) {
  if (door.closed) return `Door closed: “${sentenceFor(door)}”`
  const limits = [
    ...(door.closes_at === null ? [] : [`until ${momentOf(door.closes_at)}`]),
    ...(door.closes_after === null ? [] : [`for ${countOf(door.closes_after, 'application')}`]),
  ]
  return ['Door open', ...limits].join(', ')
}

function sentenceFor({ sentence }: Pick<Door, 'sentence'>) {
  return sentence === '' ? closedSentence : sentence
}

function inDigits(count: number) {
  return count.toLocaleString('en')
}

function countOf(count: number, what: string) {
  return `${inDigits(count)} ${what}${count === 1 ? '' : 's'}`
}
