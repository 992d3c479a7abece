import { privateDays } from '../../../application/limits.ts'
import type { Arguments } from '../../../client/desk/calls.ts'
import type { Question, QuestionKind } from '../../../application/questions.ts'
import type { Questions } from '../../../client/desk/questions.ts'
import { countOf } from '../kit/format.ts'

/** The kinds of questions, and their labels. */
export const questionKinds: Record<QuestionKind, string> = {
  short: 'Short text',
  long: 'Long text',
  choice: 'One of several',
  'yes-no': 'Yes or no',
}

/** The answers to a question of the kind `yes-no`, and their labels. */
export const yesNo = [
  ['yes', 'Yes'],
  ['no', 'No'],
] as const

/** A question as it is edited, with one option a line. */
export interface QuestionDraft extends Omit<Question, 'choices'> {
  options: string
}

/** The questions as they are edited. */
export interface QuestionsDraft {
  questions: QuestionDraft[]
  /** The last day for answers, as `2026-12-31`; blank if not set. */
  until: string
  /** The number of days until private answers are erased, as typed; blank without a private question. */
  days: string
}

/** The draft of the stored questions. */
export function draftOf({ questions, until, private_days: days }: Questions): QuestionsDraft {
  return {
    questions: questions.map(({ id, kind, text, choices, is_required, is_private }) => ({
      id,
      kind,
      text,
      options: choices.join('\n'),
      is_required,
      is_private,
    })),
    until: until ?? '',
    days: String(days ?? ''),
  }
}

/** The arguments that save a draft, if this version is still the stored one. */
export function argumentsOf(draft: QuestionsDraft, version: number): Arguments<'desk_set_questions'> {
  return {
    version,
    questions: draft.questions.map(({ options, ...question }) => ({
      ...question,
      text: question.text.trim(),
      choices: question.kind === 'choice' ? options.split('\n').map(trimmed).filter(Boolean) : [],
    })),
    until: draft.until === '' ? null : draft.until,
    private_days: hasPrivate(draft) ? Number(draft.days) : null,
  }
}

const trimmed = (option: string) => option.trim()

/** Whether a question of the draft is private. */
export function hasPrivate({ questions }: Pick<QuestionsDraft, 'questions'>): boolean {
  return questions.some((each) => each.is_private)
}

/**
 * Replaces the questions of a draft. The first private question fills in the days after which private answers are erased, and
 * removing the last clears them.
 */
export function withQuestions(draft: QuestionsDraft, questions: QuestionDraft[]): QuestionsDraft {
  const offered = hasPrivate(draft) ? draft.days : String(privateDays.offered)
  return { ...draft, questions, days: hasPrivate({ questions }) ? offered : '' }
}

/** Moves a question up if `by` is -1, and down if it is 1. */
export function moved(questions: readonly QuestionDraft[], index: number, by: 1 | -1): QuestionDraft[] {
  const others = questions.toSpliced(index, 1)
  return others.toSpliced(index + by, 0, ...questions.slice(index, index + 1))
}

/** A sentence about the answers that are erased if the draft is saved; blank if there are none. */
export function erasureSentence({ questions }: QuestionsDraft, stored: Questions['questions']): string {
  const removed = stored.filter(({ id, answers }) => answers > 0 && !questions.some((each) => each.id === id))
  const answers = removed.reduce((sum, each) => sum + each.answers, 0)
  return removed.length === 0
    ? ''
    : `Saving erases ${countOf(answers, 'answer')} to ${countOf(removed.length, 'removed question')}.`
}

const dayLength = 86_400_000

/** The day `count` days after `day`, both as `2026-12-31`. */
export function dayAfter(day: string, count: number): string {
  return new Date(Date.parse(day) + count * dayLength).toISOString().slice(0, '2026-12-31'.length)
}

/** An answer in words. */
export function answerWords({ kind }: Pick<Question, 'kind'>, answer: string): string {
  return kind === 'yes-no' ? (yesNo.find(([value]) => value === answer)?.[1] ?? answer) : answer
}
