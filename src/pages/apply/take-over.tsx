import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { createPortal, flushSync } from 'react-dom'

import { applicationFrom, closedCode } from '../../application/application.ts'
import type { Door as DoorState } from '../../client/door.ts'
import { submitApplication } from '../../client/submit.ts'
import type { ScriptData } from './apply-data.ts'
import { closedTitle, openedAnnouncement } from './copy.ts'
import doorStyle from './door.css?inline'
import { Door } from './Door.tsx'
import { isUnanswered, storeDraft, storeSentTime, storeUnanswered, restoreDraft } from './draft.ts'
import { lockForm } from './lock.ts'
import { Failure, Sent, Success } from './Outcome.tsx'
import { showProblems } from './problems.ts'
import { showSending } from './sending.ts'
import { idle, isJudged, messageOf, nextSubmission, type SubmissionEvent } from './submission.ts'
import { watchDoor } from './watch-door.ts'

/**
 * Takes over the document's form: sends it, and shows the outcome. React renders only what it adds, in places of its own. The form's
 * elements belong to the document. A translation or an extension may change them at any time. Hydration would then render the form
 * again, without what somebody has typed (docs/decisions/0071-a-form-that-others-change.md).
 *
 * @returns A function that removes what React has rendered.
 */
export function takeOver(
  form: HTMLFormElement,
  { backend, takesNativePosts, posted, success, door }: ScriptData,
): () => void {
  const above = document.createElement('div')
  const fields = form.querySelector('#fields')
  fields?.before(above)
  const below = form.querySelector('#outcome')
  const doorPlace = document.createElement('div')
  /** The box of an earlier submission. It stays as it is until the next one: nothing may move under a press that has begun. */
  const earlierBox = form.querySelector('.success, .error')
  const root = createRoot(above)
  let submission = idle
  /** The sentence of the closed door; undefined while applications are open. */
  let sentence = door
  /** Whether the application may be stored, so that it can be sent again although the door has closed. */
  let mayRepeat = isUnanswered()

  function dispatch(event: SubmissionEvent) {
    const before = submission
    submission = nextSubmission(before, event)
    if (event.type === 'sent' || event.type === 'refused') earlierBox?.remove()
    if (submission.sending !== before.sending) showSending(submission.sending)
    if (submission !== before) render()
  }

  function render() {
    const { status, message, sentAt } = submission
    root.render(
      <StrictMode>
        {sentence !== undefined && createPortal(<Door {...{ sentence, mayRepeat }} />, doorPlace)}
        {sentAt && <Sent time={sentAt} />}
        {status === 'success' && <Success text={success} />}
        {status === 'error' && below && createPortal(<Failure message={message} />, below)}
      </StrictMode>,
    )
    lockForm(form, sentence !== undefined && !mayRepeat)
  }

  /** Shows the answer to whether the door is open, which nobody asked for: it is announced. */
  function showDoor({ is_open, sentence: words }: DoorState) {
    const next = is_open ? undefined : words
    if (next === sentence) return
    setSentence(next)
    const region = form.querySelector('#progress')
    if (region) region.textContent = next === undefined ? openedAnnouncement : `${closedTitle}. ${next}`
    // For people who are typing further down.
    if (next !== undefined) doorPlace.scrollIntoView({ block: 'nearest' })
  }

  function setSentence(next: string | undefined) {
    if (next !== undefined) adoptDoorStyle()
    sentence = next
    flushSync(render)
  }

  function setMayRepeat(next: boolean) {
    mayRepeat = next
    storeUnanswered(next)
  }

  async function send() {
    // A second press can arrive before the button is disabled.
    if (submission.sending) return
    const application = applicationFrom(new FormData(form))
    const isStored = storeDraft(form)
    setMayRepeat(true)
    dispatch({ type: 'sent' })
    try {
      await submitApplication(application, backend)
      storeSentTime()
      setMayRepeat(false)
      clear(form)
      dispatch({ type: 'stored' })
    } catch (error) {
      if (isJudged(error)) setMayRepeat(false)
      dispatch({ type: 'failed', message: messageOf(error, isStored) })
      if (isJudged(error) && error.code === closedCode) setSentence(error.message)
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
  if (posted === 'success') setMayRepeat(false)
  submission = { ...idle, sentAt }
  // The document's own words of a closed door are replaced at once, so that nothing moves.
  document.querySelector('.door')?.remove()
  document.querySelector('.badge')?.before(doorPlace)
  flushSync(render)
  const watch = watchDoor(backend, () => sentence !== undefined, showDoor)
  // Our own server renders the door's state into the document.
  if (!takesNativePosts) void watch.ask()
  if (window.heldSubmission) {
    window.heldSubmission.claim()
    void send()
  }
  return () => {
    watch.end()
    root.unmount()
  }
}

/** The document of an open form has no style for a closed one. */
function adoptDoorStyle() {
  if (document.querySelector('.door') || !('adoptedStyleSheets' in document)) return
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(doorStyle)
  document.adoptedStyleSheets = [sheet]
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
