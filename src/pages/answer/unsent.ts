/** Answers that a guest typed and did not send. */
import type { Answers } from '../../application/questions.ts'
import type { GuestQuestions } from '../../client/invitation.ts'

type Questions = Pick<GuestQuestions, 'list'>

const keyOf = (token: string) => `unplugged-answers-${token}`

/** Reads the answers that this tab has stored for a link. */
export function readUnsent(token: string): Answers {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(token)) ?? '{}') as Answers
  } catch {
    return {}
  }
}

/** Stores the answers for a reload of this tab, except private ones. */
export function storeUnsent(token: string, unsent: Answers, { list }: Questions): void {
  const storable = { list: list.filter(({ is_private }) => !is_private) }
  try {
    sessionStorage.setItem(keyOf(token), JSON.stringify(answersTo(storable, unsent)))
  } catch {
    // Storage may be full or forbidden. The page keeps the answers until it is closed.
  }
}

/** Selects the answers to questions that exist. */
export function answersTo(questions: Questions | null | undefined, unsent: Answers): Answers {
  const isAsked = (id: string) => questions?.list.some((question) => question.id === id)
  return Object.fromEntries(Object.entries(unsent).filter(([id]) => isAsked(id)))
}
