import type { ApplyData } from './apply-data.ts'
import { sendLabel } from './copy.ts'
import { Fields } from './Fields.tsx'
import { Failure, Success } from './Outcome.tsx'

/**
 * The card with the questions, the button, and the outcome of a submission that the browser posted. It is rendered once, into the
 * document; `take-over.tsx` adds what happens later.
 */
export function ApplicationForm({
  takesNativePosts,
  outcome,
  door,
  success,
  privacyUrl,
  privacyLabel,
}: ApplyData) {
  const isClosed = door !== undefined
  return (
    <form
      className={isClosed ? 'card closed' : 'card'}
      aria-labelledby="title"
      method="post"
      action={takesNativePosts ? './' : undefined}
    >
      {takesNativePosts || (
        <noscript>
          <p className="outcome error">
            This form needs JavaScript to send your application. Please switch it on.
          </p>
        </noscript>
      )}
      {outcome?.status === 'success' && <Success text={success} />}
      <Fields
        formAnswers={outcome?.status === 'error' ? outcome.application : null}
        privacyUrl={privacyUrl}
        privacyLabel={privacyLabel}
        isClosed={isClosed}
      />
      <button type="submit" disabled={isClosed}>
        {sendLabel}
      </button>
      <div id="outcome">
        <p id="progress" className="visually-hidden" aria-live="polite" />
        {outcome?.status === 'error' && <Failure message={outcome.message} />}
      </div>
    </form>
  )
}
