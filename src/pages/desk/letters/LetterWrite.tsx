import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'

import { stepSize } from '../../../application/limits.ts'
import type { Status } from '../../../application/statuses.ts'
import { newActId } from '../../../client/act.ts'
import type { Letter, WriteOutcome } from '../../../client/desk/letters.ts'
import { actRetryDelays, SignedOutError } from '../../../client/session.ts'
import { announce } from '../kit/announce.tsx'
import { Button } from '../kit/Button.tsx'
import { DialogContent } from '../kit/Dialog.tsx'
import { DialogForm } from '../kit/DialogForm.tsx'
import { Choice, Form } from '../kit/Field.tsx'
import { countOf, formatNumber, outOf } from '../kit/format.ts'
import { hrefOf } from '../data/route.ts'
import { ActProblems, failureOf } from '../kit/ActProblems.tsx'
import { Problem } from '../kit/Problem.tsx'
import { Loading } from '../kit/lazy-screen.tsx'
import { useAct } from '../kit/useAct.ts'
import { acts } from '../data/acts.ts'
import type { SeenApplication } from '../data/decision-state.ts'
import { currentScreen } from '../data/failed-acts.ts'
import { useDesk } from '../data/useDesk.tsx'
import { useDeskAct } from '../data/useDeskAct.ts'
import { isAfterAcceptance, isNeitherDecisionNorReceipt, nameOfOccasion, receipt } from './letters.ts'

/** The templates to choose from, and the chosen occasion; undefined until one is chosen. */
function useOccasion(isOffered: (occasion: string) => boolean) {
  const { data: overview, error } = useQuery(useDesk().letters())
  const [chosen, setChosen] = useState('')
  const occasions = (overview?.templates ?? []).map((each) => each.occasion).filter(isOffered)
  return {
    error,
    occasion: occasions.find((each) => each === chosen),
    options: occasions.map((each) => [each, nameOfOccasion(each)] as const),
    choose: setChosen,
  }
}

interface LetterWriteProps {
  application: string
  status: Status
  letters: readonly Letter[]
}

/** Drafts a letter to one applicant, from the template of the current status or from another that fits this status. */
export function LetterWrite({ application, status, letters }: LetterWriteProps) {
  const {
    occasion: chosen,
    options,
    choose,
  } = useOccasion(
    (each) =>
      each === status ||
      (isNeitherDecisionNorReceipt(each) && (status === 'accepted' || !isAfterAcceptance(each))),
  )
  const occasion = chosen ?? options[0]?.[0]
  const write = useDeskAct('desk_write', {
    success: ([outcome]) => (outcome?.outcome === 'drafted' ? 'Draft made' : ''),
  })
  if (occasion === undefined) return null
  const press = (again: boolean) => write.press({ applications: [application], occasion, again })
  // The outcome is shown until another template is chosen.
  const lastOutcome = write.args?.occasion === occasion ? write.response?.[0] : undefined
  const hasDraft = letters.some((each) => each.occasion === occasion && each.state === 'draft')
  // A draft that was sent or removed is no longer below.
  const outcome = lastOutcome && isDraft(lastOutcome) && !hasDraft ? undefined : lastOutcome
  return (
    <Form className="application-write" onSend={() => press(false)}>
      <div className="layout-field-row">
        <Choice label="Letter" options={options} value={occasion} onChoose={choose} />
        <Button className="control-quiet" isPending={write.isPending}>
          Draft from template
        </Button>
        {outcome?.state === 'sent' && <Button onPress={() => press(true)}>Draft again</Button>}
      </div>
      {outcome && (
        <p>
          {wordsOf(outcome)} {linkTo(outcome)}
        </p>
      )}
      <ActProblems acts={[write]} />
    </Form>
  )
}

/** The sentences about the outcomes of drafting a letter to one applicant. */
const words: Record<
  Exclude<WriteOutcome['outcome'], 'written'> | NonNullable<WriteOutcome['state']>,
  string
> = {
  drafted: 'The draft is below. Nothing has been sent.',
  undecided: 'Not drafted: the status of the application has changed.',
  withdrawn: 'Not drafted: the applicant withdrew the application.',
  gone: 'This application is gone.',
  // The states of an earlier letter:
  draft: 'There is a draft already, below.',
  waiting: 'A letter is on its way already.',
  sending: 'A letter is on its way already.',
  sent: 'They already have this letter.',
  refused: 'Their letter was refused.',
  'given up': 'Their letter was not delivered: sending it failed, and it is no longer retried.',
}

function isDraft({ outcome, state }: WriteOutcome) {
  return outcome === 'drafted' || state === 'draft'
}

// With `written`, a draft or a letter exists already, and its state says more.
function wordsOf({ outcome, state }: WriteOutcome) {
  if (outcome !== 'written') return words[outcome]
  return state === null ? '' : words[state]
}

/** A link to a letter that is on its way or was not delivered. A draft is on the same screen. */
function linkTo({ state }: WriteOutcome) {
  if (state === 'waiting' || state === 'sending')
    return <a href={hrefOf({ screen: 'outbox', state: 'waiting' })}>Letters on the way</a>
  if (state === 'refused' || state === 'given up')
    return <a href={hrefOf({ screen: 'outbox', state })}>Deal with that letter</a>
  return null
}

const failure = 'Not all were drafted.'

interface LetterWriteManyFormProps {
  recipients: readonly SeenApplication[]
  close: () => void
}

/** The form that drafts letters to many applicants in steps, and the result. */
export function LetterWriteManyForm({ recipients, close }: LetterWriteManyFormProps) {
  const applications = recipients.map(({ id }) => id)
  const { call, failedActs, refetch } = useDesk()
  const [screen] = useState(currentScreen)
  const { error, occasion, options, choose } = useOccasion((each) => each !== receipt)
  const [done, setDone] = useState(0)
  const isStopped = useRef(false)
  const write = useAct(
    async (args: { occasion: string }, signal) => {
      const outcomes: WriteOutcome[] = []
      isStopped.current = false
      for (let at = 0; at < applications.length && !isStopped.current; at += stepSize) {
        setDone(at)
        const step = applications.slice(at, at + stepSize)
        const act = newActId()
        outcomes.push(
          ...(await call('desk_write', { act, ...args, applications: step }, signal, actRetryDelays)),
        )
      }
      return outcomes
    },
    {
      outlivesScreen: true,
      onOutcome({ error: problem, response, isOpen }) {
        if (problem === null) announce(countsOf(response, applications.length), !isOpen)
        else if (!isOpen && !(problem instanceof SignedOutError))
          failedActs.add({
            subject: 'letters',
            screen,
            failure: failureOf(failure, problem),
            repeat: undefined,
          })
        void refetch(acts.desk_write.stale)
      },
    },
  )
  // After its screen is left, it ends with the step that was sent.
  useEffect(() => () => void (isStopped.current = true), [])
  const title =
    recipients.length === 1
      ? `Draft a letter to ${recipients[0]?.name}`
      : `Draft letters to ${formatNumber(recipients.length)} applicants`
  if (options.length === 0)
    return (
      <DialogContent {...{ title, close }}>{error ? <Problem error={error} /> : <Loading />}</DialogContent>
    )
  // The outcome is shown until another template is chosen.
  const isOfChosen = write.args?.occasion === occasion
  const isDone = isOfChosen && write.response?.length === applications.length
  return (
    <DialogForm
      {...{ title, close }}
      closeWords="Close"
      button={`Draft ${countOf(applications.length, 'letter')}`}
      // Closing the dialog stops it after the step that was sent.
      act={{ ...write, failure, error: isOfChosen ? write.error : null, cancel: doNothing }}
      isOff={occasion === undefined || isDone}
      onSend={() => occasion !== undefined && !isDone && write.press({ occasion })}
    >
      <p>Nothing is sent yet: you read the drafts first.</p>
      {/* No default: the selected applicants may have any status. */}
      <Choice
        label="Template"
        options={[['', 'Choose a template'], ...options]}
        value={occasion ?? ''}
        onChoose={choose}
      />
      {isOfChosen && occasion !== undefined && write.response && (
        <p>
          {countsOf(write.response, applications.length)}{' '}
          <a href={hrefOf({ screen: 'drafts', occasion })}>Review drafts</a>
        </p>
      )}
      {write.isPending && applications.length > stepSize && (
        <div className="layout-row">
          <span>{outOf(done, applications.length)}</span>
          <Button onPress={() => (isStopped.current = true)}>Stop</Button>
        </div>
      )}
    </DialogForm>
  )
}

const doNothing = () => {}

const outcomeWords = {
  drafted: 'drafted',
  written: 'already had one',
  undelivered: 'not delivered: see Letters',
  gone: 'gone',
  withdrawn: 'withdrawn',
  undecided: 'skipped: another status',
}

function kindOf({ outcome, state }: WriteOutcome): keyof typeof outcomeWords {
  return state === 'refused' || state === 'given up' ? 'undelivered' : outcome
}

/** The result of drafting, in numbers: `12 drafted, 1 already had one.` After a stop, it adds how many were not drafted. */
function countsOf(outcomes: readonly WriteOutcome[], total: number) {
  const parts = Object.entries(outcomeWords).flatMap(([kind, text]) => {
    const count = outcomes.filter((each) => kindOf(each) === kind).length
    return count === 0 ? [] : [`${formatNumber(count)} ${text}`]
  })
  const notDrafted = total - outcomes.length
  return `${parts.join(', ')}.${notDrafted > 0 ? ` Stopped: ${formatNumber(notDrafted)} not drafted.` : ''}`
}
