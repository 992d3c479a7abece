import type { LettersOverview } from '../../../client/desk/letters.ts'
import { announce } from '../kit/announce.tsx'
import { momentOf } from '../kit/format.ts'
import { Problem } from '../kit/Problem.tsx'
import { useDeskAct } from '../kit/useDesk.tsx'

const names: Record<string, string> = { mail: 'Connection', sender: 'Sender' }

/** What a server found out about the mail server and the sender's domain when somebody asked last. */
export function MailCheck({ postman }: { postman: LettersOverview['postman'] }) {
  const { is_checking: isChecking, checked_at: checkedAt, findings } = postman
  const check = useDeskAct('desk_check_mail', () => announce('Looking into the mail server.'))
  return (
    <>
      {checkedAt === null ? (
        <p>
          Checks whether the mail server accepts letters, and whether other mail servers trust their sender.
        </p>
      ) : (
        <>
          <dl className="findings">
            {findings.map(({ about, verdict, said }) => (
              <div key={about} className={verdict === 'wrong' ? 'notice error' : undefined}>
                <dt>
                  {names[about] ?? about}: {verdict}
                </dt>
                <dd>{said}</dd>
              </div>
            ))}
          </dl>
          <p className="quietly">
            As of {momentOf(checkedAt)}.
            {findings.some(({ verdict }) => verdict === 'wrong') && ' Tell whoever runs this site.'}
          </p>
        </>
      )}
      <Problem error={check.error} />
      <button
        className="quiet"
        aria-disabled={isChecking}
        onClick={isChecking ? undefined : () => check.press({})}
      >
        {isChecking ? 'Looking…' : 'Look into the mail server'}
      </button>
    </>
  )
}
