import { Alert, isOutdated, isUncertain, reload, sentenceOf } from './Problem.tsx'

/** The failures of acts, one message each, for the space under their buttons. */
export function ActProblems({ acts }: { acts: readonly { error: Error | null; failureMessage: string }[] }) {
  return acts.map(({ error, failureMessage }) =>
    error === null ? null : (
      <Alert key={failureMessage} {...(isOutdated(error) ? reload : { button: '', onPress: undefined })}>
        {failureOf(failureMessage, error)}
      </Alert>
    ),
  )
}

/**
 * The sentences about a failed act.
 *
 * @param fails A sentence that says what has not happened. It is replaced if no response came, since the act may have happened.
 */
export function failureOf(failureMessage: string, error: Error): string {
  return `${isUncertain(error) ? 'Not confirmed.' : failureMessage} ${sentenceOf(error)}`
}
