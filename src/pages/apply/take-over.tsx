import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { createPortal } from 'react-dom'

import { applicationFrom } from '../../application/application.ts'
import { submitApplication } from '../../client/submit.ts'
import type { ScriptData } from './apply-data.ts'
import { fallbackText } from './copy.ts'
import { DoorSentence } from './Door.tsx'
import { storeDraft, storeSentTime, restoreDraft } from './draft.ts'
import { Failure, Sent, Success } from './Outcome.tsx'
import { showProblems } from './problems.ts'
import { showSending } from './sending.ts'
import { idle, messageOf, nextSubmission, type SubmissionEvent } from './submission.ts'

/**
 * Takes over the document's form: sends it, and shows the outcome. React renders only what it adds, in places of its own. The form's
 * elements belong to the document. A translation or an extension may change them at any time. Hydration would then render the form
 * again, without what somebody has typed (docs/decisions/0071-a-form-that-others-change.md).
 *
 * @param hasFailed Whether a submission failed before.
 * @returns A function that removes what React has rendered.
 */
export function takeOver(
  form: HTMLFormElement,
  { backend, takesNativePosts, posted, success }: ScriptData,
  hasFailed: boolean,
): () => void {
  const above = document.createElement('div')
  const fields = form.querySelector('#fields')
  fields?.before(above)
  const below = form.querySelector('#outcome')
  const door = takesNativePosts ? null : form.querySelector('[aria-live]')
  /** The box of the last submission that the browser posted. */
  const nativeBox = form.querySelector('.success, .error')
  const root = createRoot(above)
  let submission = idle

  function dispatch(event: SubmissionEvent) {
    const before = submission
    submission = nextSubmission(before, event)
    if (event.type === 'sent' || event.type === 'refused') nativeBox?.remove()
    if (submission.sending !== before.sending) showSending(submission.sending)
    if (submission !== before) render()
  }

  function render() {
    const { status, message, sentAt } = submission
    root.render(
      <StrictMode>
        {door && createPortal(<DoorSentence backend={backend} />, door)}
        {sentAt && <Sent time={sentAt} />}
        {status === 'success' && <Success text={success} />}
        {status === 'error' && below && createPortal(<Failure message={message} />, below)}
      </StrictMode>,
    )
  }

  async function send() {
    // A second press can arrive before the button is disabled.
    if (submission.sending) return
    const application = applicationFrom(new FormData(form))
    const isStored = storeDraft(form)
    dispatch({ type: 'sent' })
    try {
      await submitApplication(application, backend)
      storeSentTime()
      clear(form)
      dispatch({ type: 'stored' })
    } catch (error) {
      dispatch({ type: 'failed', message: messageOf(error, isStored) })
    }
  }

  window.isReady = true
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void send()
  })
  form.addEventListener('invalid', () => dispatch({ type: 'refused' }), true)
  for (const type of ['keydown', 'input']) form.addEventListener(type, () => dispatch({ type: 'typed' }))
  showProblems(form)
  const sentAt = posted === 'success' ? undefined : restoreDraft(form)
  submission = { ...idle, sentAt }
  render()
  if (hasFailed) dispatch({ type: 'failed', message: fallbackText })
  if (window.heldSubmission) {
    window.heldSubmission.claim()
    void send()
  }
  return () => root.unmount()
}

/** Makes all fields blank. `reset` alone would bring back what the browser had posted, and the document repeated. */
function clear(form: HTMLFormElement) {
  for (const field of form.elements) {
    if (field instanceof HTMLTextAreaElement) field.defaultValue = ''
    if (!(field instanceof HTMLInputElement)) continue
    // The value of a choice is what it stands for.
    if (field.type === 'radio' || field.type === 'checkbox') field.defaultChecked = false
    else field.defaultValue = ''
  }
  form.reset()
}
