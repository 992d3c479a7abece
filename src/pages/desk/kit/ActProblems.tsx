import { Alert, isOutdated, isUncertain, reload, sentenceOf } from './Problem.tsx'

/** The failures of acts, one message each, to show near their buttons. */
export function ActProblems({ acts }: { acts: readonly { error: Error | null; failure: string }[] }) {
  return acts.map(({ error, failure }) =>
    error === null ? null : (
      <Alert key={failure} {...(isOutdated(error) && reload)}>
        {failureOf(failure, error)}
      </Alert>
    ),
  )
}

/**
 * The sentences about a failed act.
 *
 * @param failure The sentence for a failure, such as `Not saved.` It is replaced if no response arrived, since the act may
 *   have succeeded.
 */
export function failureOf(failure: string, error: Error): string {
  return `${isUncertain(error) ? 'Not confirmed.' : failure} ${sentenceOf(error)}`
}
