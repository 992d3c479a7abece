import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { maxCharacters } from '../../../application/limits.ts'
import type { Notices } from '../../../client/desk/letters.ts'
import type { LoadAuth } from '../../../client/session.ts'
import { Button } from '../kit/Button.tsx'
import { SwitchField } from '../kit/SwitchField.tsx'
import { announce } from '../kit/announce.tsx'
import { Field } from '../kit/Field.tsx'
import { focusUnlessElsewhere } from '../kit/focus.ts'
import { momentOf } from '../kit/format.ts'
import { ActProblems } from '../kit/ActProblems.tsx'
import { Problem } from '../kit/Problem.tsx'
import { Heading } from '../kit/Heading.tsx'
import { Loading } from '../kit/lazy-screen.tsx'
import { Sheet } from '../kit/Screen.tsx'
import { useTitle } from '../kit/site-title.tsx'
import { useDesk } from '../data/useDesk.tsx'
import { useDeskAct } from '../data/useDeskAct.ts'
import { useReading } from '../data/useReading.ts'
import { useUnsentText } from '../data/useUnsentText.ts'
import { SaveButtons, useVersionedDraft, type Unsaved } from '../data/useVersionedDraft.tsx'
import { sentenceOfPassword } from '../session/account-sentences.ts'
import { asAccount, type AsMe } from '../session/as-account.ts'
import { codeIn } from '../session/code-in.ts'
import { CodeField, codeProblem } from '../session/CodeField.tsx'
import { SignOutButton } from '../session/SignOutButton.tsx'
import { textIn, useForm } from '../session/useForm.ts'
import type { WatchedSession } from '../session/watch-session.ts'
import { OrganisersEdit } from './OrganisersEdit.tsx'
import { FactorEdit, type AccountPartProps } from './FactorEdit.tsx'

/** The screen of an organiser's own settings. */
export function AccountShow({ auth, session }: { auth: LoadAuth; session: WatchedSession }) {
  const { account, email, isReader, confirmLoss } = useDesk()
  const asMe = asAccount(account, auth, session.recheck)
  useTitle('Account')
  return (
    <div className="account-screen layout-settings">
      <Heading>Account</Heading>
      <p className="layout-text">
        You are signed in as <b>{email}</b>.{isReader && ' You may read, mark and write notes.'}
      </p>
      <NameEdit />
      <BlindEdit />
      <NoticesEdit />
      <PasswordEdit {...{ auth, asMe }} />
      <FactorEdit {...{ auth, asMe }} />
      <SessionsEnd {...{ session, asMe }} />
      {!isReader && <OrganisersEdit {...{ auth, asMe }} />}
      <div className="account-out">
        <SignOutButton {...{ session, confirmLoss }} />
      </div>
    </div>
  )
}

/** The form for the organiser's own name. */
function NameEdit() {
  const { call } = useDesk()
  const { data, error, refetch } = useQuery({
    queryKey: ['account', 'me'],
    queryFn: ({ signal }) => call('desk_me', {}, signal),
  })
  const name = data?.name ?? ''
  const draft = useVersionedDraft({
    input: useUnsentText<Unsaved<{ name: string }>>('own name'),
    call: 'desk_set_name',
    stored: { name },
    version: name,
    argsOf: (entered) => ({ name: entered.name.trim() }),
    versionOf: (saved) => saved.name ?? '',
    success: () => 'Name saved.',
  })
  return (
    <Sheet title="Name">
      <form onSubmit={draft.onSubmit}>
        <Field
          label="Your name"
          hint="Organisers see it at your marks, notes and decisions, in place of your email."
          autoComplete="name"
          maxLength={maxCharacters.organiser}
          value={draft.value.name}
          onText={(text) => draft.enter({ name: text })}
        />
        <SaveButtons
          draft={draft}
          save="Save name"
          className="control-quiet"
          conflictNotice="Your name was changed meanwhile. Your change is not saved. Saving now replaces it."
        />
      </form>
      <Problem error={error} onTryAgain={() => void refetch()} />
    </Sheet>
  )
}

const blindHint =
  'Hides names, emails, phone numbers, LinkedIn and companies, for you alone. Search then covers only the reasons and custom answers.'

/** The switch for blind reading, which hides applicants' identities. */
function BlindEdit() {
  const { isReader } = useDesk()
  const { data, error, refetch } = useReading()
  const setBlind = useDeskAct('desk_set_blind', {
    success: ({ blind }) => (blind ? 'Blind reading is on.' : 'Blind reading is off.'),
    isSuccessOnScreen: true,
  })
  const setReadsOnly = useDeskAct('desk_set_reads_only', {
    success: ({ reads_only }) => (reads_only ? 'You don’t mark applications.' : 'You read and mark.'),
    isSuccessOnScreen: true,
  })
  return (
    <Sheet title="Reading">
      <SwitchField
        label="Blind reading"
        hint={
          isReader
            ? blindHint
            : `${blindHint} You can reveal single applications, and their history shows it.`
        }
        isOn={data?.blind}
        pending={setBlind.isPending ? setBlind.args?.blind : undefined}
        onSwitch={(blind) => setBlind.press({ blind })}
      />
      {data?.is_shared && (
        <SwitchField
          label="I don’t mark applications"
          hint="Then nobody waits for your marks."
          isOn={data.reads_only}
          pending={setReadsOnly.isPending ? setReadsOnly.args?.reads_only : undefined}
          onSwitch={(reads_only) => setReadsOnly.press({ reads_only })}
        />
      )}
      <Problem error={error} onTryAgain={() => void refetch()} />
      <ActProblems acts={[setBlind, setReadsOnly]} />
    </Sheet>
  )
}

const noticeChoices: [Notices['notices'], string][] = [
  ['off', 'None'],
  ['each', 'One for each application: at most ten an hour, the rest in one daily email'],
  ['daily', 'One a day, with the number and the names'],
]

/** The choice of emails about new applications. */
function NoticesEdit() {
  const { call } = useDesk()
  const {
    data: settings,
    error,
    refetch,
  } = useQuery({
    queryKey: ['account', 'notices'],
    queryFn: ({ signal }) => call('desk_notices', {}, signal),
  })
  const save = useDeskAct('desk_set_notices', {
    success: () => 'Saved.',
    queuesLatest: true,
  })
  const shown = save.isPending ? save.args?.notices : settings?.notices
  return (
    <Sheet title="Emails about new applications">
      {!settings && !error && <Loading />}
      {settings && (
        <>
          <fieldset aria-busy={save.isPending || undefined}>
            <legend>Emails to {settings.email}</legend>
            {noticeChoices.map(([notices, words]) => (
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
          {settings.day_due_at !== null && settings.is_postman_there && (
            <p className="layout-text">The next daily email is sent {momentOf(settings.day_due_at)}.</p>
          )}
          {settings.notices !== 'off' && !settings.is_postman_there && (
            <p className="layout-text">No email is sent until this site has a mail server.</p>
          )}
        </>
      )}
      <Problem error={error} onTryAgain={() => void refetch()} />
      <ActProblems acts={[save]} />
    </Sheet>
  )
}

/** Sets or changes the password. If the session is older than a day, it also asks for a code sent by email. */
function PasswordEdit({ auth, asMe }: AccountPartProps) {
  const { email } = useDesk()
  const [needsCode, setNeedsCode] = useState(false)
  /** The number of times that the password was set here. A new number resets the form. */
  const [savedCount, setSavedCount] = useState(0)
  const { problem, isPending, onSubmit } = useForm(
    asMe(async (fields) => {
      const nonce = codeIn(fields)
      if (needsCode && nonce === undefined) return codeProblem
      const client = await auth()
      const password = textIn(fields, 'password')
      const { error } = await client.updateUser({ password, ...(nonce !== undefined && { nonce }) })
      if (error?.code === 'reauthentication_needed') {
        const reauthentication = await client.reauthenticate()
        if (reauthentication.error) return sentenceOfPassword(reauthentication.error)
        setNeedsCode(true)
        return undefined
      }
      if (error) return sentenceOfPassword(error)
      setNeedsCode(false)
      setSavedCount((count) => count + 1)
      announce('The password is set. Your sessions in other browsers have ended.')
      return undefined
    }),
  )
  return (
    <Sheet title="Password">
      <p className="layout-text">
        With a password you sign in without a code. A new password ends your sessions in other browsers.
      </p>
      <form key={savedCount} onSubmit={onSubmit}>
        {/* Tells the browser which account the password belongs to. */}
        <input hidden readOnly autoComplete="username" value={email} />
        <Field
          label="New password"
          name="password"
          type="password"
          autoComplete="new-password"
          required
          hint="At least ten characters."
          problem={needsCode ? undefined : problem}
          // The pressed button has disappeared with the former form.
          {...(savedCount > 0 && { ref: focusUnlessElsewhere })}
        />
        {needsCode && (
          <CodeField
            hint={`You signed in more than a day ago. A code is on its way to ${email}.`}
            problem={problem}
            takesFocus
          />
        )}
        <Button className="control-quiet" isPending={isPending}>
          Set password
        </Button>
      </form>
    </Sheet>
  )
}

function SessionsEnd({ session, asMe }: { session: WatchedSession; asMe: AsMe }) {
  const { confirmLoss } = useDesk()
  const { error, isPending, press } = useForm(asMe(() => session.signOut('global')))
  return (
    <Sheet title="Sessions">
      <p className="layout-text">Signs you out in every browser, including this one.</p>
      <Button isPending={isPending} onPress={() => confirmLoss() && press()}>
        End all sessions
      </Button>
      <Problem message="" error={error} />
    </Sheet>
  )
}
