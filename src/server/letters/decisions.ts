import {
  startDispatcher,
  wordsOf,
  type Dispatcher,
  type DispatcherOptions,
  type Outbox,
} from '../deliveries/dispatcher.ts'
import { beat, claimDecisions, type DecisionClaim } from './claims.ts'
import { giveBack, record } from './outcomes.ts'

type Claim = DecisionClaim & { body: URLSearchParams }

/** The decisions that an automation is to be told, as deliveries. */
const outbox: Outbox<Claim> = {
  // The receiver's answers may quote an applicant's address.
  logsAnswers: false,
  async claimDue(sql, most) {
    const claims = await claimDecisions(sql, most)
    return claims.map((claim) => ({ ...claim, body: decisionBody(claim) }))
  },
  async record(sql, claim, tried) {
    const { delivered, status, isUncertain = false, retryAfter } = tried
    const answer = wordsOf(tried)
    // 410: the receiver is gone and says so.
    const result = delivered
      ? ({ outcome: 'sent', code: status } as const)
      : status === 410
        ? ({ outcome: 'refused', code: status, answer } as const)
        : ({ outcome: 'retry', code: status, answer, isUncertain } as const)
    const outcome = await record(sql, claim, result, retryAfter)
    if (outcome === 'sent') return 'delivered'
    return outcome === 'refused' ? 'given up' : outcome
  },
  giveBack: (sql, claim, isUncertain = false) => giveBack(sql, claim, { isUncertain }),
  keep: (sql) => beat(sql, 'automation'),
}

/** What an automation is told. */
function decisionBody(claim: DecisionClaim): URLSearchParams {
  const { applicationId, email, status, decidedAt, answerLink, replyBy } = claim
  return new URLSearchParams({
    id: applicationId,
    email,
    status,
    decidedAt: decidedAt.toISOString(),
    ...(answerLink !== null && { answerLink }),
    ...(replyBy !== null && { replyBy }),
  })
}

/** Tells an automation of the decisions that organisers send, as long as it runs. */
export function startDecisions(
  options: Pick<DispatcherOptions<Claim>, 'sql' | 'receiver' | 'log' | 'interval'>,
): Pick<Dispatcher, 'stop'> {
  return startDispatcher({ ...options, outbox })
}
