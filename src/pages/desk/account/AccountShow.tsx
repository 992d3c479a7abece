import type { AuthMFAEnrollTOTPResponse, Factor } from '@supabase/auth-js'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'

import type { Notices } from '../../../client/desk/letters.ts'
import type { LoadAuth } from '../../../client/session.ts'
import { announce } from '../kit/announce.tsx'
import { ActButton } from '../kit/Button.tsx'
import { ActSwitch, Field } from '../kit/Field.tsx'
import { useWhenGone } from '../kit/focus.ts'
import { momentOf } from '../kit/format.ts'
import { hrefOf } from '../kit/route.ts'
import { ActProblems, Problem } from '../kit/Problem.tsx'
import { Heading, Loading, Sheet, useTitle } from '../kit/Screen.tsx'
import { useDesk, useDeskAct } from '../kit/useDesk.tsx'
import { sentenceOfFactor, sentenceOfPassword } from '../session/sentences.ts'
import { CodeField, codeIn, onlyAs, sixDigits, textIn, useForm, type AsMe } from '../session/useForm.tsx'
import type { WatchedSession } from '../session/watch-session.ts'

/** What the parts of the screen need that change the account. */
interface Own {
  auth: LoadAuth
  asMe: AsMe
}

/** What an organiser sets for themselves. */
export function AccountShow({ auth, session }: { auth: LoadAuth; session: WatchedSession }) {
  const { account, email } = useDesk()
  const asMe = onlyAs(account, auth, session.askAgain)
  useTitle('Account')
  return (
    <div className="account">
      <Heading>Account</Heading>
      <p>
        You are signed in as <b>{email}</b>. <a href={hrefOf({ screen: 'history' })}>History</a>
      </p>
      <BlindEdit />
      <NoticesEdit />
      <PasswordEdit {...{ auth, asMe }} />
      <FactorEdit {...{ auth, asMe }} />
      <SessionsEnd {...{ session, asMe }} />
    </div>
  )
}

/** The switch of an organiser who wants to read without knowing who wrote. */
function BlindEdit() {
  const desk = useDesk()
  const { data, error } = useQuery(desk.blind())
  const change = useDeskAct('desk_set_blind', {
    says: ({ blind }) => (blind ? 'Blind reading is on.' : 'Blind reading is off.'),
    fails: 'Not switched.',
  })
  return (
    <Sheet title="Reading">
      <ActSwitch
        label="Blind reading"
        hint="Hides name, e-mail, telephone, LinkedIn and company everywhere, for you alone. Search then covers the reasons and the custom answers. In an application you can reveal them one by one, which its history keeps."
        isOn={data?.blind}
        pending={change.isPending ? change.given?.blind : undefined}
        onSwitch={(blind) => change.press({ blind })}
      />
      <Problem error={error} />
      <ActProblems acts={[change]} />
    </Sheet>
  )
}

const choices: [Notices['notices'], string][] = [
  ['off', 'None'],
  ['each', 'One for each application, at most ten an hour; the rest comes in one mail a day'],
  ['daily', 'One a day, with the number and the names'],
]

/** Which mails tell the organiser of new applications. */
function NoticesEdit() {
  const desk = useDesk()
  const { data: kept, error } = useQuery(desk.notices())
  const save = useDeskAct('desk_set_notices', { says: () => 'Saved.', fails: 'Not saved.', keepsLast: true })
  const shown = save.isPending ? save.given?.notices : kept?.notices
  return (
    <Sheet title="Mails about new applications">
      {!kept && !error && <Loading />}
      {kept && (
        <>
          <fieldset aria-busy={save.isPending || undefined}>
            <legend>Mails to {kept.email}</legend>
            {choices.map(([notices, words]) => (
              <label key={notices} className="choice">
                <input
                  type="radio"
                  name="notices"
                  checked={shown === notices}
                  onChange={() => save.press({ notices })}
                />
                <span>{words}</span>
              </label>
            ))}
          </fieldset>
          {kept.day_due_at !== null && <p>The next mail of the day leaves {momentOf(kept.day_due_at)}.</p>}
          {kept.notices !== 'off' && !kept.is_postman_there && (
            <p>None leaves until a server sends mail from here.</p>
          )}
        </>
      )}
      <Problem error={error} />
      <ActProblems acts={[save]} />
    </Sheet>
  )
}

/** Sets or changes the password. In a session that is older than a day it asks for a code of a mail, too. */
function PasswordEdit({ auth, asMe }: Own) {
  const { email } = useDesk()
  const [needsCode, setNeedsCode] = useState(false)
  /** Counts the passwords that were set: after each the form is as at first. */
  const [set, setSet] = useState(0)
  const { problem, isPending, onSubmit } = useForm(
    asMe(async (fields) => {
      const nonce = codeIn(fields)
      if (needsCode && nonce === undefined) return sixDigits
      const client = await auth()
      const password = textIn(fields, 'password')
      const { error } = await client.updateUser({ password, ...(nonce !== undefined && { nonce }) })
      if (error?.code === 'reauthentication_needed') {
        const asked = await client.reauthenticate()
        if (asked.error) return sentenceOfPassword(asked.error)
        setNeedsCode(true)
        return undefined
      }
      if (error) return sentenceOfPassword(error)
      setNeedsCode(false)
      setSet((count) => count + 1)
      announce('The password is set. Your sessions in other browsers have ended.')
      return undefined
    }),
  )
  return (
    <Sheet title="Password">
      <p>
        With a password you sign in without a mail. A new one replaces the one before, and ends your sessions
        in other browsers.
      </p>
      <form key={set} onSubmit={onSubmit}>
        {/* It tells the browser whose password it is asked to keep. */}
        <input hidden readOnly autoComplete="username" value={email} />
        <Field
          label="New password"
          name="password"
          type="password"
          autoComplete="new-password"
          required
          hint="At least six characters."
          problem={needsCode ? '' : problem}
        />
        {needsCode && (
          <CodeField
            hint={`You signed in more than a day ago, so a mail with a code is on its way to ${email}.`}
            problem={problem}
            isFirst
          />
        )}
        <ActButton className="quiet" isPending={isPending}>
          Set password
        </ActButton>
      </form>
    </Sheet>
  )
}

type NewFactor = NonNullable<AuthMFAEnrollTOTPResponse['data']>

/** The second factor: switched on with an authenticator app, and off. */
function FactorEdit({ auth, asMe }: Own) {
  const queries = useQueryClient()
  const queryKey = ['account', 'factors']
  const [begun, setBegun] = useState<NewFactor>()
  const button = useRef<HTMLButtonElement>(null)
  useWhenGone(begun !== undefined, () => button.current?.focus())
  const { data: factors, error } = useQuery({ queryKey, queryFn: () => listFactors(auth) })
  const verified = factors?.filter(({ status }) => status === 'verified') ?? []

  const finish = async (sentence: string) => {
    await queries.invalidateQueries({ queryKey })
    setBegun(undefined)
    announce(sentence)
  }
  const begin = useForm(
    asMe(async () => {
      const { mfa } = await auth()
      // Those that were begun and not finished: the next one could not have their name.
      const { data: former } = await mfa.listFactors()
      for (const { id, status, factor_type: type } of former?.all ?? []) {
        if (status === 'unverified' && type === 'totp') await mfa.unenroll({ factorId: id })
      }
      const { data, error: refused } = await mfa.enroll({ factorType: 'totp' })
      if (refused) return sentenceOfFactor(refused)
      setBegun(data)
      return undefined
    }),
  )
  const remove = useForm(
    asMe(async () => {
      const client = await auth()
      for (const { id } of verified) {
        const { error: refused } = await client.mfa.unenroll({ factorId: id })
        if (refused) return sentenceOfFactor(refused)
      }
      // The token still says that there is a second factor.
      await client.refreshSession()
      return finish('The second factor is off.')
    }),
  )
  const isOn = verified.length > 0
  const words = isOn
    ? {
        about: 'It is on: after the mail, signing in asks for the code that your authenticator app shows.',
        button: 'Switch off',
      }
    : {
        about:
          'It is off. With it, signing in also asks for a code that an authenticator app on your telephone shows, so that your mailbox alone lets nobody in.',
        button: 'Set up',
      }
  const { isPending, press } = isOn ? remove : begin
  return (
    <Sheet title="Second factor">
      {begun ? (
        <FactorVerify
          auth={auth}
          factor={begun}
          onVerified={() => finish('The second factor is on.')}
          onCancelled={() => setBegun(undefined)}
        />
      ) : (
        factors && (
          <>
            <p>{words.about}</p>
            <ActButton ref={button} isPending={isPending} onPress={press}>
              {words.button}
            </ActButton>
          </>
        )
      )}
      <Problem error={error ?? begin.error ?? remove.error} />
    </Sheet>
  )
}

interface FactorVerifyProps extends Pick<Own, 'auth'> {
  factor: NewFactor
  onVerified: () => Promise<void>
  onCancelled: () => void
}

/** A second factor that is being set up: its secret, for the app, and a field for the app's first code. */
function FactorVerify({ auth, factor: { id, totp }, onVerified, onCancelled }: FactorVerifyProps) {
  const verify = useForm(async (fields) => {
    const code = codeIn(fields)
    if (code === undefined) return sixDigits
    const { error } = await (await auth()).mfa.challengeAndVerify({ factorId: id, code })
    return error ? sentenceOfFactor(error) : onVerified()
  })
  const cancel = useForm(async () => {
    await (await auth()).mfa.unenroll({ factorId: id })
    onCancelled()
  })
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
        <form onSubmit={verify.onSubmit}>
          <CodeField problem={verify.problem} isFirst />
          <div className="row">
            <ActButton isPending={verify.isPending}>Switch on</ActButton>
            <ActButton isPending={cancel.isPending} onPress={cancel.press}>
              Cancel
            </ActButton>
          </div>
        </form>
      </div>
    </div>
  )
}

/** All of the account's factors, those that nobody finished to set up included. */
async function listFactors(auth: LoadAuth): Promise<Factor[]> {
  const { data, error } = await (await auth()).mfa.listFactors()
  if (error) throw new Error(sentenceOfFactor(error), { cause: error })
  return data.all
}

function SessionsEnd({ session, asMe }: { session: WatchedSession; asMe: AsMe }) {
  const { error, isPending, press } = useForm(asMe(() => session.signOut('global')))
  return (
    <Sheet title="Sessions">
      <p>Ends every session of yours in every browser, this one too. Each has to sign in again.</p>
      <ActButton isPending={isPending} onPress={press}>
        End all sessions
      </ActButton>
      <Problem error={error} />
    </Sheet>
  )
}
