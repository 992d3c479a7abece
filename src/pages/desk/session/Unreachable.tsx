import { useEffect } from 'react'

import { isRetryable } from '../../../client/auth-errors.ts'
import { listenTo } from '../kit/listen.ts'
import { sentenceOf } from '../kit/Problem.tsx'
import { sentenceOfSignIn } from './sentences.ts'
import { NoticeBox, Step } from './Step.tsx'

/** The page shown if the session cannot be checked. */
export function Unreachable({ error, onTryAgain }: { error: unknown; onTryAgain: () => void }) {
  useEffect(() => listenTo('online')(onTryAgain), [onTryAgain])
  return (
    <Step title="The desk cannot be opened now">
      <NoticeBox text={isRetryable(error) ? sentenceOfSignIn(error) : sentenceOf(error)} isProblem />
      <button onClick={onTryAgain}>Try again</button>
    </Step>
  )
}
