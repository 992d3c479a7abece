import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'

import { maxCharacters } from '../../../application/limits.ts'
import { rightWords } from '../../../application/organiser-change.ts'
import type { ListedOrganiser } from '../../../client/desk/marks.ts'
import { useDesk } from '../data/useDesk.tsx'
import { useDeskAct } from '../data/useDeskAct.ts'
import { Button } from '../kit/Button.tsx'
import { ActProblems } from '../kit/ActProblems.tsx'
import { announce } from '../kit/announce.tsx'
import { CopyButton, selectToCopy } from '../kit/CopyButton.tsx'
import { Confirmation, Dialog } from '../kit/Dialog.tsx'
import { Field } from '../kit/Field.tsx'
import { momentOf } from '../kit/format.ts'
import { Loading } from '../kit/lazy-screen.tsx'
import { Problem, sentenceOf } from '../kit/Problem.tsx'
import { Sheet } from '../kit/Screen.tsx'
import { SwitchField } from '../kit/SwitchField.tsx'
import { Tick } from '../kit/Tick.tsx'
import { textIn, useForm } from '../session/useForm.ts'
import type { AccountPartProps } from './FactorEdit.tsx'

/** All organisers, what each may do, and the form that invites another. Somebody can always do everything. */
export function OrganisersEdit({ auth, asMe }: AccountPartProps) {
  const { call } = useDesk()
  const { data, error, refetch } = useQuery({
    queryKey: ['organisers'],
    queryFn: ({ signal }) => call('desk_organisers', {}, signal),
    refetchOnWindowFocus: 'always',
  })
  const withAllRights = data?.organisers.filter(({ is_reader: isReader }) => !isReader) ?? []
  return (
    <Sheet title="Organisers">
      <p className="layout-text">
        Organisers may do everything, unless they may only read. Then they search and read applications, mark
        them and write notes, and change their own account.
      </p>
      {!data && !error && <Loading />}
      {data && (
        <>
          <ul className="layout-lines">
            {data.organisers.map((organiser) => (
              <li key={organiser.account}>
                <OrganiserWords organiser={organiser} />
                {withAllRights.length === 1 && !organiser.is_reader ? (
                  <p className="account-organiser">May do everything, as somebody has to.</p>
                ) : (
                  <div className="layout-row">
                    <ReaderSwitch organiser={organiser} />
                    <OrganiserRemove organiser={organiser} isOwnServer={data.can_invite} />
                  </div>
                )}
              </li>
            ))}
          </ul>
          {data.can_invite ? (
            <OrganiserInvite {...{ auth, asMe }} onInvited={() => void refetch()} />
          ) : (
            <p className="layout-text">
              Accounts are made in the project’s dashboard, under Authentication. Your operator then gives the
              right to use this desk.
            </p>
          )}
        </>
      )}
      <Problem error={error} isStale={data !== undefined} onTryAgain={() => void refetch()} />
    </Sheet>
  )
}

const nameOf = ({ name, email }: ListedOrganiser) => name ?? email

/** Who an organiser is, and who invited them. */
function OrganiserWords({ organiser }: { organiser: ListedOrganiser }) {
  const { email, name, invited, has_signed_in: hasSignedIn } = organiser
  return (
    <p className="account-organiser">
      <b>
        <bdi>{nameOf(organiser)}</bdi>
      </b>
      {name !== null && (
        <>
          {', '}
          <bdi>{email}</bdi>
        </>
      )}
      {invited && (
        <span className="layout-quiet">
          {' '}
          Invited by <bdi>{invited.by}</bdi>, {momentOf(invited.at)}
          {!hasSignedIn && ', not signed in yet'}
        </span>
      )}
    </p>
  )
}

/** The switch that makes an organiser a reader. Each has an act of its own, so that several can be switched at once. */
function ReaderSwitch({ organiser }: { organiser: ListedOrganiser }) {
  const { account, is_reader: isReader } = organiser
  const set = useDeskAct('desk_set_reader', {
    success: (_organisers, args) => `${nameOf(organiser)} may ${rightWords(args.is_reader)}.`,
    isSuccessOnScreen: true,
  })
  return (
    <>
      <SwitchField
        label={`${nameOf(organiser)} may only read`}
        isOn={isReader}
        pending={set.isPending ? set.args?.is_reader : undefined}
        onSwitch={(isOn) => set.press({ account, is_reader: isOn })}
      />
      <ActProblems acts={[set]} />
    </>
  )
}

/** The button that removes an organiser. */
function OrganiserRemove({ organiser, isOwnServer }: { organiser: ListedOrganiser; isOwnServer: boolean }) {
  const name = nameOf(organiser)
  const remove = useDeskAct('desk_remove_organiser', { success: () => `${name} was removed.` })
  return (
    <>
      <Dialog button="Remove" about={name} isPending={remove.isPending}>
        {(close) => (
          <Confirmation
            title={
              <>
                Remove <bdi>{name}</bdi>?
              </>
            }
            close={close}
            closeWords="Keep"
            confirm={`Remove ${name}`}
            onConfirm={() => remove.press({ account: organiser.account })}
          >
            <p>
              {isOwnServer
                ? 'This deletes the account and ends its sessions at once.'
                : 'This takes away the right to use the desk at once.'}{' '}
              Their notes, marks and decisions stay.
            </p>
          </Confirmation>
        )}
      </Dialog>
      <ActProblems acts={[remove]} />
    </>
  )
}

/** The form that invites an organiser. Without a mail server it shows the link, once. */
function OrganiserInvite({ auth, asMe, onInvited }: AccountPartProps & { onInvited: () => void }) {
  const [isReader, setIsReader] = useState(false)
  const shownLink = useRef<HTMLElement>(null)
  /** The last invitation. Its number resets the form. */
  const [last, setLast] = useState<{ number: number; email: string; link: string | null }>()
  const { problem, isPending, onSubmit } = useForm(
    asMe(async (fields) => {
      const [email, name] = [textIn(fields, 'email').trim(), textIn(fields, 'name').trim()]
      try {
        const { link } = await (await auth()).invite({ email, name, is_reader: isReader })
        setLast((former) => ({ number: (former?.number ?? 0) + 1, email, link }))
        setIsReader(false)
        // The form says it below.
        announce(`${email} is invited.`, false)
        onInvited()
        return undefined
      } catch (error) {
        return sentenceOf(error)
      }
    }),
  )
  return (
    <>
      <form key={last?.number} onSubmit={onSubmit}>
        <h3>Invite an organiser</h3>
        <Field label="Their email" name="email" type="email" autoComplete="off" required />
        <Field
          label="Their name (optional)"
          name="name"
          autoComplete="off"
          maxLength={maxCharacters.organiser}
        />
        <Tick isOn={isReader} onTick={setIsReader}>
          May only read
        </Tick>
        {problem !== '' && (
          <p className="layout-notice error" role="alert">
            {problem}
          </p>
        )}
        <div className="layout-row">
          <Button className="control-quiet" isPending={isPending}>
            Invite
          </Button>
        </div>
      </form>
      {last && (
        <p className="layout-text">
          {last.link === null ? (
            <>
              <bdi>{last.email}</bdi> gets an email with a link that signs in once, within a day. If it does
              not arrive, invite them again.
            </>
          ) : (
            <>
              This site sends no emails. Send this link to <bdi>{last.email}</bdi> yourself. It signs in once,
              within a day, and is not shown again:{' '}
              <code className="account-secret" ref={shownLink}>
                {last.link}
              </code>{' '}
              <CopyButton
                text={last.link}
                about="link"
                onCopied={(isCopied) => !isCopied && selectToCopy(shownLink.current)}
              />
            </>
          )}
        </p>
      )}
    </>
  )
}
