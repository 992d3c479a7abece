/** The organisers' questions to a guest: until the last day a form, afterwards the answers as text. */
import { maxAnswerLength, type AnsweredQuestion, type Answers } from '../../application/questions.ts'
import type { GuestQuestions } from '../../client/invitation.ts'
import {
  answeredSentence,
  changeOneLabel,
  closedSentence,
  erasedHint,
  keepLabel,
  noAnswerLabel,
  optionalSuffix,
  privateHint,
  questionsTitle,
  removeHint,
  saveAnswersLabel,
  sendAnswersLabel,
  untilIntro,
  yesNoLabels,
} from './copy.ts'
import { button, dayOf, element, sentence } from './elements.ts'

/** The handlers for a guest's input into the questions. */
interface QuestionHandlers {
  /** Remembers an answer until it is sent. Undefined forgets what was typed, so that the stored answer stays. */
  remember: (question: AnsweredQuestion, answer: string | undefined) => void
  /** Renders the questions again, and focuses the first control or button of this question. */
  redraw: (question: AnsweredQuestion, pressed: HTMLElement) => void
  send: (pressed: HTMLButtonElement) => void
}

/**
 * Renders the questions.
 *
 * @param unsent Answers that were typed and not sent.
 */
export function renderQuestions(
  { until, is_open, private_days, list }: GuestQuestions,
  unsent: Answers,
  handlers: QuestionHandlers,
): HTMLElement[] {
  const heading = element('h2', {}, questionsTitle)
  if (!is_open) return [heading, element('dl', {}, ...list.flatMap(answerOf)), sentence(closedSentence)]
  const label = list.some(({ is_answered }) => is_answered) ? saveAnswersLabel : sendAnswersLabel
  const remember = ({ type, target }: Event) => {
    const control = target as HTMLInputElement
    const question = list.find(({ id }) => id === control.name)
    if (!question) return
    // The server trims an answer, and refuses control characters in a one-line answer, so these are replaced here. Trimming here
    // also prevents that white space alone satisfies `required`.
    if (type === 'change')
      control.value = control.value.replace(/\p{Cc}+/gu, question.kind === 'long' ? '$&' : ' ').trim()
    const isStored = !hasHiddenAnswer(question) && control.value === (question.answer ?? '')
    handlers.remember(question, isStored ? undefined : control.value)
    control.form?.querySelector('.success')?.remove()
  }
  const form = element(
    'form',
    {
      // A browser would offer the answers to the next person who uses it.
      autocomplete: 'off',
      // A screen reader would announce all questions at once.
      ariaLive: 'off',
      oninput: remember,
      onchange: remember,
      onsubmit(event) {
        event.preventDefault()
        handlers.send(event.submitter as HTMLButtonElement)
      },
    },
    heading,
    until ? sentence(untilIntro, dayOf(until)) : '',
    ...list.map((question) => fieldOf(question, private_days, unsent[question.id], handlers)),
    element('button', {}, label),
  )
  return [form]
}

/** Whether the question has an answer that the page does not show. */
function hasHiddenAnswer({ is_private, is_answered }: AnsweredQuestion) {
  return is_private && is_answered
}

/** The control of a question, with its label and its hint. */
function fieldOf(
  question: AnsweredQuestion,
  days: number | null,
  typed: string | undefined,
  handlers: QuestionHandlers,
) {
  const { id, kind, text, is_required, is_private } = question
  const isHidden = hasHiddenAnswer(question)
  const showsControl = !isHidden || typed !== undefined
  const value = typed ?? question.answer ?? ''
  const content: HTMLElement[] = []
  const hint = element(
    'p',
    { id: `${id}-hint`, className: 'hint' },
    privateHint,
    days ? erasedHint(days) : '',
  )
  if (is_private) content.push(hint)
  const describe = (control: HTMLElement) => {
    if (is_private) control.setAttribute('aria-describedby', hint.id)
    return control
  }
  const isText = kind === 'short' || kind === 'long'
  if (!showsControl) content.push(element('p', {}, answeredSentence))
  else if (isText) {
    const control = element(kind === 'long' ? 'textarea' : 'input', {
      id,
      name: id,
      value,
      required: is_required,
      maxLength: maxAnswerLength,
      dir: 'auto',
    })
    content.push(describe(control))
    if (isHidden && !is_required) hint.append(removeHint)
  } else
    content.push(
      ...choicesOf(question).map(([option, optionLabel]) => choice(question, option, optionLabel, value)),
    )
  if (isHidden) {
    const toggle = button(showsControl ? keepLabel : changeOneLabel, 'quiet', () => {
      handlers.remember(question, showsControl ? undefined : '')
      handlers.redraw(question, toggle)
    })
    toggle.name = id
    toggle.ariaLabel = `${toggle.textContent}: ${text}`
    content.push(toggle)
  }
  const words = [element('bdi', {}, text), is_required ? '' : optionalSuffix]
  if (!isText || !showsControl)
    return describe(element('fieldset', {}, element('legend', {}, ...words), ...content))
  return element('div', { className: 'field' }, element('label', { htmlFor: id }, ...words), ...content)
}

/** The values and labels of the options. */
function choicesOf({ kind, choices, is_required }: AnsweredQuestion): [value: string, label: string][] {
  const options: [string, string][] =
    kind === 'choice' ? choices.map((each) => [each, each]) : Object.entries(yesNoLabels)
  // Without this option, a choice could not be taken back.
  return is_required ? options : [...options, ['', noAnswerLabel]]
}

function choice(
  { id, is_required: required }: AnsweredQuestion,
  value: string,
  words: string,
  chosen: string,
) {
  const input = element('input', { type: 'radio', name: id, value, required, checked: value === chosen })
  return element('label', { className: 'choice' }, input, element('bdi', {}, words))
}

/** An answer as text. */
function answerOf({ kind, text, is_answered, answer }: AnsweredQuestion) {
  const words = kind === 'yes-no' && answer ? yesNoLabels[answer as keyof typeof yesNoLabels] : answer
  const shown = is_answered ? (words ?? answeredSentence) : noAnswerLabel
  return [element('dt', {}, element('bdi', {}, text)), element('dd', { dir: 'auto' }, shown)]
}
