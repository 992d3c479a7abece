import { Alert, isOutdated, isUncertain, reload, sentenceOf } from './Problem.tsx'

/** Why acts failed: each in one message, under the acts. */
export function ActProblems({ acts }: { acts: readonly { error: Error | null; fails: string }[] }) {
  return acts.map(({ error, fails }) =>
    error === null ? null : (
      <Alert key={fails} {...(isOutdated(error) ? reload : { button: '', onPress: undefined })}>
        {failureOf(fails, error)}
      </Alert>
    ),
  )
}

/**
 * What an act that failed says.
 *
 * @param fails What has not happened, as a sentence. Where no response came, it may have happened all the same.
 */
export function failureOf(fails: string, error: Error): string {
  return `${isUncertain(error) ? 'Not confirmed.' : fails} ${sentenceOf(error)}`
}
