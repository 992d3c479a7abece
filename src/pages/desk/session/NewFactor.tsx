import type { GoTrueClient } from '@supabase/auth-js'

import { codeIn, CodeField, sixDigits } from './Field.tsx'
import { sentenceOfFactor } from './sentences.ts'
import { useSending } from './use-sending.ts'

interface NewFactorProps {
  auth: GoTrueClient
  factor: { id: string; totp: { qr_code: string; secret: string; uri: string } }
  onVerified: () => Promise<void>
  onCancel: () => Promise<undefined>
}

/** A second factor that is being set up: its secret, for the app, and a field for the app's first code. */
export function NewFactor({ auth, factor: { id, totp }, onVerified, onCancel }: NewFactorProps) {
  const verify = useSending(async (fields) => {
    const code = codeIn(fields)
    if (code === undefined) return sixDigits
    const { error } = await auth.mfa.challengeAndVerify({ factorId: id, code })
    if (error) return sentenceOfFactor(error)
    await onVerified()
    return undefined
  })
  const cancel = useSending(onCancel)
  return (
    <div className="new-factor">
      <img
        src={totp.qr_code}
        alt="A QR code with the secret that stands beside it"
        width="192"
        height="192"
      />
      <div>
        <p>
          Scan this with your authenticator app, or <a href={totp.uri}>open it there</a>, or type this secret:
        </p>
        <p>
          <code className="secret">{totp.secret}</code>
        </p>
        <p>
          Then type the code that the app shows. Your sessions in other browsers end, since they began without
          it.
        </p>
        <form onSubmit={verify.send}>
          <CodeField problem={verify.problem} isFirst />
          <div className="row">
            <button disabled={verify.isUnderWay}>{verify.isUnderWay ? 'One moment…' : 'Switch on'}</button>
            <button type="button" className="quiet" disabled={cancel.isUnderWay} onClick={cancel.press}>
              Cancel
            </button>
          </div>
        </form>
      </div>
    </div>
  )
}
