import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { mostCharacters } from '../../../application/limits.ts'
import type { Count } from '../../../client/desk/count.ts'
import type { LettersOverview, OutboxState } from '../../../client/desk/letters.ts'
import { announce } from '../kit/announce.tsx'
import { Button } from '../kit/Button.tsx'
import { Field, Form, Switch } from '../kit/Field.tsx'
import { momentOf, upTo } from '../kit/format.ts'
import { go, hrefOf } from '../kit/route.ts'
import { Problem } from '../kit/Problem.tsx'
import { Screen, Sheet } from '../kit/Screen.tsx'
import { useDesk, useDeskAct } from '../kit/useDesk.tsx'
import { useTyped } from '../kit/useTyped.ts'
import { SaveButtons, useVersionedDraft, type Unsaved } from '../kit/useVersionedDraft.tsx'
import { isOfDecision, nameOfOccasion, received } from './letters.ts'
import { UndoSend } from './UndoSend.tsx'

/** Letters: who waits for one, how delivery stands, and what they say. */
export function LettersShow() {
  return (
    <Screen title="Letters" query={useQuery(useDesk().lettersAnew())} head={<UndoSend />}>
      {(overview) => (
        <div className="letters">
          <Sheet title="Who waits for a letter">
            <DraftCounts {...overview} />
          </Sheet>
          <Delivery {...overview} />
          <TemplateList {...overview} />
          <ReceiptEdit {...overview} />
          <ReplyToEdit {...overview} />
          {overview.postman.is_there && <MailCheck {...overview} />}
        </div>
      )}
    </Screen>
  )
}

/** For each occasion, how many drafts nobody has sent. */
function DraftCounts({ templates, personal }: LettersOverview) {
  const waiting = [...templates, { occasion: '', drafts: personal }].filter(({ drafts }) => drafts.count > 0)
  if (waiting.length === 0)
    return <p className="quietly">Nobody. Whoever is accepted, waitlisted or declined will stand here.</p>
  return (
    <ul className="plain">
      {waiting.map(({ occasion, drafts }) => (
        <li key={occasion} className="row">
          <span>
            {upTo(drafts)} {waitWords(occasion, drafts.count === 1)}
          </span>
          <a
            href={hrefOf({ screen: 'drafts', occasion })}
            className="button"
            aria-label={`${review(drafts)}: ${nameOfOccasion(occasion)}`}
          >
            {review(drafts)}
          </a>
        </li>
      ))}
    </ul>
  )
}

function waitWords(occasion: string, isOne: boolean) {
  if (isOfDecision(occasion))
    return `${occasion} ${isOne ? 'applicant waits' : 'applicants wait'} for their letter`
  const drafts = isOne ? 'draft' : 'drafts'
  return occasion === ''
    ? `${drafts} without a template, written to one person`
    : `${drafts} of “${nameOfOccasion(occasion)}”`
}

function review(drafts: Count) {
  return `Review ${upTo(drafts)} ${drafts.count === 1 ? 'draft' : 'drafts'}`
}

const stateWords: Record<OutboxState, (isOne: boolean) => string> = {
  waiting: (isOne) => (isOne ? 'is leaving' : 'are leaving'),
  refused: (isOne) => (isOne ? 'was refused' : 'were refused'),
  'given up': (isOne) => (isOne ? 'was given up' : 'were given up'),
}

/** Whether a server sends letters, what stops them, and which are under way or did not arrive. */
function Delivery({ postman, states }: LettersOverview) {
  const stop = useDeskAct('desk_stop', ({ stopped }) =>
    announce(stopped ? 'All letters are stopped.' : 'Letters leave again.'),
  )
  const shown = (Object.keys(stateWords) as OutboxState[]).filter((state) => states[state].count > 0)
  return (
    <Sheet title="Delivery">
      <p className={postman.stopped || postman.paused_until !== null ? 'notice error' : ''}>
        {deliveryWords(postman)}
      </p>
      {postman.is_there && postman.is_automation_there && !postman.stopped && (
        <p>An automation is told of the decisions that you send.</p>
      )}
      {shown.length === 0 && <p className="quietly">Nothing is leaving, and nothing failed.</p>}
      {shown.length > 0 && (
        <ul className="plain">
          {shown.map((state) => (
            <li key={state}>
              <a href={hrefOf({ screen: 'outbox', state })}>
                {upTo(states[state])} {stateWords[state](states[state].count === 1)}
              </a>
            </li>
          ))}
        </ul>
      )}
      <Problem error={stop.error} />
      <Button onPress={() => stop.press({ stopped: !postman.stopped })}>
        {postman.stopped ? 'Let letters leave' : 'Stop all letters'}
      </Button>
    </Sheet>
  )
}

function deliveryWords(postman: LettersOverview['postman']) {
  const { is_there: isThere, is_automation_there: isAutomationThere, paused_until: pausedUntil } = postman
  if (postman.stopped) return 'All letters are stopped: nothing leaves until you let it.'
  if (!isThere && isAutomationThere)
    return 'No mail leaves from here: an automation is told of the decisions that you send, and writes to applicants.'
  if (!isThere)
    return 'No server sends mail from here yet. Until one does, each letter opens in your own mail program.'
  if (pausedUntil !== null)
    return `The mail server takes no letters at the moment. They are tried again after ${momentOf(pausedUntil)}: ${postman.problem}`
  return 'A letter leaves shortly after you send it; until then you can stop it.'
}

/** What letters say on each occasion, and naming another one; a template is kept when it has words. */
function TemplateList({ templates }: LettersOverview) {
  const [typed, type] = useTyped<string>('new template')
  const named = typed?.trim() ?? ''
  const isThere = templates.some(({ occasion }) => occasion === named)
  const open = () => {
    if (named === '') return
    type(null)
    go({ screen: 'template', occasion: named })
  }
  return (
    <Sheet title="Templates">
      <ul className="plain">
        {templates.map(({ occasion, subject }) => (
          <li key={occasion}>
            <a href={hrefOf({ screen: 'template', occasion })}>{nameOfOccasion(occasion)}</a>{' '}
            <span className="quietly">{subject}</span>
          </li>
        ))}
      </ul>
      <Form className="new-template" onSend={open}>
        <Field
          label="Name of a new template"
          required
          maxLength={mostCharacters.occasion}
          autoComplete="off"
          placeholder="Travel"
          value={typed ?? ''}
          onText={(text) => type(text === '' ? null : text)}
        />
        <button className="quiet">{isThere ? 'Edit template' : 'New template'}</button>
      </Form>
    </Sheet>
  )
}

/** Whether whoever applies is sent a receipt. */
function ReceiptEdit({ settings, postman }: LettersOverview) {
  const { version, reply_to } = settings
  // Shown at once, until the database's answer shows it.
  const [wish, setWish] = useState<{ isOn: boolean; over: number } | null>(null)
  const desk = useDesk()
  const save = useDeskAct(
    'desk_set_letters',
    (saved) => {
      desk.keep(desk.letters(), (former) => ({ ...former, settings: { ...former.settings, ...saved } }))
      announce(saved.receipts ? 'Receipts are on.' : 'Receipts are off.')
    },
    { onFailure: () => setWish(null) },
  )
  const isUnderWay = wish?.over === version
  return (
    <Sheet title="Receipt">
      <Switch
        label="Send a receipt to whoever applies"
        hint="It is sent by itself as soon as an application is stored: at most one a day to an address, and none that would come more than a day late."
        isOn={isUnderWay ? wish.isOn : settings.receipts}
        onSwitch={(receipts) => {
          if (isUnderWay) return
          setWish({ isOn: receipts, over: version })
          save.press({ version, reply_to, receipts })
        }}
      />
      {settings.receipts && !postman.is_there && (
        <p>No receipt leaves until a server sends mail from here.</p>
      )}
      <Problem said="Not saved." error={save.error} />
      <p>
        <a href={hrefOf({ screen: 'template', occasion: received })}>What the receipt says</a>
      </p>
    </Sheet>
  )
}

/** Where answers to letters go. */
function ReplyToEdit({ settings: { version, receipts, reply_to: replyTo } }: LettersOverview) {
  const desk = useDesk()
  const draft = useVersionedDraft({
    kept: useTyped<Unsaved<{ to: string }>>('reply-to'),
    call: 'desk_set_letters',
    stored: { to: replyTo },
    // Not the settings' version, which also changes with the switch of the receipts.
    version: replyTo,
    givenOf: ({ to }) => ({ version, receipts, reply_to: to.trim() }),
    onSaved(saved) {
      const { reply_to: to } = saved
      desk.keep(desk.letters(), (former) => ({ ...former, settings: { ...former.settings, ...saved } }))
      announce(to === '' ? 'Saved. Answers go to the sender.' : `Saved. Answers go to ${to}.`)
      return to
    },
  })
  return (
    <Sheet title="Answers">
      <form onSubmit={draft.onSubmit}>
        <Field
          label="Answers go to"
          hint="One e-mail address. Left blank: to the sender."
          type="email"
          autoComplete="off"
          maxLength={mostCharacters.address}
          value={draft.value.to}
          onText={(to) => draft.enter({ to })}
        />
        <SaveButtons
          draft={draft}
          className="quiet"
          meanwhile={`Somebody else changed this meanwhile: answers go to ${replyTo || 'the sender'} now. What you entered is not saved.`}
        />
      </form>
    </Sheet>
  )
}

const checked: Record<string, string> = { mail: 'Connection', sender: 'Sender' }

/** What a server found out about the mail server and the sender's domain when somebody asked last. */
function MailCheck({ postman }: LettersOverview) {
  const { is_checking: isChecking, checked_at: checkedAt, findings } = postman
  const check = useDeskAct('desk_check_mail', () => announce('Looking into the mail server.'))
  return (
    <Sheet title="Mail server">
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
                  {checked[about] ?? about}: {verdict}
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
      <Button isOff={isChecking} onPress={() => check.press({})}>
        {isChecking ? 'Looking…' : 'Look into the mail server'}
      </Button>
    </Sheet>
  )
}
