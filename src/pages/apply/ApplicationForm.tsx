import { Fragment, useLayoutEffect, useReducer, useRef, type FormEvent } from 'react'

import { applicationFrom } from '../../application/application.ts'
import { submitApplication } from '../../client/submit.ts'
import { Door } from './Door.tsx'
import { storeDraft, storeSentTime, restoreDraft } from './draft.ts'
import { Fields } from './Fields.tsx'
import { Failure, Success } from './Outcome.tsx'
import type { NativeOutcome, ApplyData } from './apply-data.ts'
import { idle, messageOf, nextSubmission, type Submission } from './submission.ts'
import { fallbackText, sendingAnnouncement, sendingLabel, sendLabel } from './copy.ts'

interface ApplicationFormProps extends ApplyData {
  /** Whether a submission failed before React had loaded. */
  hasFailed?: boolean
}

/** The card with the questions, the button, and the outcome of the last submission. */
export function ApplicationForm({
  backend,
  takesNativePosts,
  outcome,
  door,
  success,
  privacyUrl,
  hasFailed,
}: ApplicationFormProps) {
  const [submission, dispatch] = useReducer(nextSubmission, outcome, initialSubmission)
  const form = useRef<HTMLFormElement>(null)
  const inFlight = useRef(false)

  const send = async () => {
    // A ref instead of state: a second press can arrive before the first press is rendered.
    if (inFlight.current || !form.current) return
    inFlight.current = true
    // Enter in a field also submits. The browser would then keep that field in view instead of the button.
    form.current.querySelector<HTMLElement>('#fields :focus')?.blur()
    form.current.querySelector('button')?.scrollIntoView({ block: 'nearest' })
    const application = applicationFrom(new FormData(form.current))
    const isStored = storeDraft(form.current)
    dispatch({ type: 'sent' })
    try {
      await submitApplication(application, backend)
      storeSentTime()
      dispatch({ type: 'stored' })
    } catch (error) {
      dispatch({ type: 'failed', message: messageOf(error, isStored) })
    } finally {
      inFlight.current = false
    }
  }

  const takeOver = () => {
    window.isHydrated = true
    // Restores the typed text if hydration had to render the form again.
    if (form.current && outcome?.status !== 'success')
      dispatch({ type: 'restored', sentAt: restoreDraft(form.current) })
    if (hasFailed) dispatch({ type: 'failed', message: fallbackText })
    if (!window.heldSubmission) return
    window.heldSubmission.claim()
    // If hydration rendered the form again, consent must be given again.
    if (form.current?.reportValidity()) void send()
    else dispatch({ type: 'refused' })
  }
  // Runs once, when the script has loaded.
  // oxlint-disable-next-line react-hooks/exhaustive-deps
  useLayoutEffect(takeOver, [])

  const handleSubmit = (event: FormEvent) => {
    event.preventDefault()
    void send()
  }

  return (
    // The key events come from the form's fields.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <form
      ref={form}
      className="card"
      aria-labelledby="title"
      method="post"
      action={takesNativePosts ? './' : undefined}
      onSubmit={handleSubmit}
      onInvalidCapture={() => dispatch({ type: 'refused' })}
      onKeyDown={() => dispatch({ type: 'typed' })}
      onInput={() => dispatch({ type: 'typed' })}
    >
      <Door sentence={door} backend={takesNativePosts ? null : backend} />
      {takesNativePosts || (
        <noscript>
          <p className="outcome error">
            This form needs JavaScript to send your application. Please switch it on.
          </p>
        </noscript>
      )}
      {submission.sentAt && (
        <p className="sent" ref={scrollIntoView}>
          Sent at {submission.sentAt} from this browser
        </p>
      )}
      {submission.status === 'success' && <Success text={success} />}
      {/* A new key resets the form after each success. */}
      <Fragment key={submission.successes}>
        <Fields
          formAnswers={submission.successes === 0 && outcome?.status === 'error' ? outcome.application : null}
          sending={submission.sending}
          privacyUrl={privacyUrl}
        />
        <button type="submit" disabled={submission.sending}>
          {submission.sending ? sendingLabel : sendLabel}
        </button>
      </Fragment>
      <div id="outcome">
        <p id="progress" className="visually-hidden" aria-live="polite">
          {submission.sending && sendingAnnouncement}
        </p>
        {submission.status === 'error' && <Failure message={submission.message} />}
      </div>
    </form>
  )
}

/** Scrolls the line into view: after a reload, browsers restore the scroll position that showed the success box. */
function scrollIntoView(line: HTMLElement | null) {
  line?.scrollIntoView({ block: 'nearest' })
}

function initialSubmission(outcome: NativeOutcome | null): Submission {
  if (typeof window !== 'undefined') {
    // A submission before hydration removes the box of the previous submission.
    const isBoxShown = document.querySelector('.success, .error') !== null
    if (!isBoxShown) return { ...idle, sending: window.heldSubmission !== undefined }
  }
  if (outcome === null) return idle
  return outcome.status === 'success'
    ? { ...idle, status: 'success' }
    : { ...idle, status: 'error', message: outcome.message }
}
