import { sentenceOf } from './messages.ts'

interface ProblemProps {
  error: Error | null | undefined
  /** What has not happened because of it. */
  said?: string
  /** Does it again. */
  onTryAgain?: (() => void) | undefined
}

/** What went wrong, if anything did. */
export function Problem({ error, said, onTryAgain }: ProblemProps) {
  if (!error) return null
  return (
    <div className="notice error" role="alert">
      <p>
        {said && `${said} `}
        {sentenceOf(error)}
      </p>
      {onTryAgain && (
        <button className="quiet" onClick={onTryAgain}>
          Try again
        </button>
      )}
    </div>
  )
}
