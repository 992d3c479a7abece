import { useQuery } from '@tanstack/react-query'
import { useContext } from 'react'

import { maxCharacters } from '../../../application/limits.ts'
import type { Count } from '../../../client/desk/count.ts'
import type { LettersOverview, OutboxState } from '../../../client/desk/letters.ts'
import { defaultLook } from '../../../design/look.ts'
import { Button } from '../kit/Button.tsx'
import { Field, Form } from '../kit/Field.tsx'
import { focusRowOnRemoval } from '../kit/focus.ts'
import { momentOf, formatCount, formatNumber } from '../kit/format.ts'
import { go, hrefOf } from '../data/route.ts'
import { ActProblems } from '../kit/ActProblems.tsx'
import { Screen, Sheet } from '../kit/Screen.tsx'
import { SiteTitle } from '../kit/site-title.tsx'
import { useDesk } from '../data/useDesk.tsx'
import { useDeskAct } from '../data/useDeskAct.ts'
import { useUnsentText } from '../data/useUnsentText.ts'
import { SaveButtons, useVersionedDraft, type Unsaved } from '../data/useVersionedDraft.tsx'
import { AutomaticLetterEdit } from './AutomaticLetterEdit.tsx'
import { leavingWords, nameOfOccasion, reminder } from './letters.ts'
import { LinkReminder } from './LinkReminder.tsx'
import { isOfDecision } from './told.ts'
import { UndoSend } from './UndoSend.tsx'

/** The screen of the letters: drafts, letters being sent, and settings. */
export function LettersShow() {
  return (
    <Screen title="Letters" query={useQuery(useDesk().freshLetters())} head={<UndoSend />}>
      {(overview) => (
        <div className="letters-screen">
          <div className="letters-group">
            <Sheet title="Drafts to send">
              <DraftCounts {...overview} />
              {overview.without_link.length > 0 && (
                <LinkReminder
                  applications={overview.without_link}
                  hasNoSite={overview.has_no_site}
                  onDrafted={() => go({ screen: 'drafts', occasion: reminder })}
                >
                  {`${formatNumber(overview.without_link.length)} accepted ${overview.without_link.length === 1 ? 'person was' : 'people were'} told without their RSVP link.`}
                </LinkReminder>
              )}
            </Sheet>
            <Delivery {...overview} />
            {overview.postman.is_there && <MailCheck {...overview} />}
          </div>
          <h2>Set up</h2>
          <div className="letters-group">
            <TemplateList {...overview} />
            <AutomaticLetterEdit {...overview} setting="receipts" />
            <AutomaticLetterEdit {...overview} setting="confirmations" />
            <ReplyToEdit {...overview} />
          </div>
        </div>
      )}
    </Screen>
  )
}

/** The number of unsent drafts: of all decisions, of each other template, and of letters to one person. */
function DraftCounts({ templates, personal }: LettersOverview) {
  const drafted = [...templates, { occasion: '', drafts: personal }].filter(({ drafts }) => drafts.count > 0)
  const decisions = drafted.filter(({ occasion }) => isOfDecision(occasion))
  const others = drafted.filter(({ occasion }) => !isOfDecision(occasion))
  if (drafted.length === 0)
    return <p className="layout-quiet">Nobody yet. People you accept, waitlist or decline appear here.</p>
  return (
    <ul className="layout-lines">
      {decisions.length > 0 && (
        <DraftCount occasion={null} drafts={sumOf(decisions)} words={decisionWords(decisions)} />
      )}
      {others.map(({ occasion, drafts }) => (
        <DraftCount
          key={occasion}
          {...{ occasion, drafts }}
          words={`${formatCount(drafts)} ${draftWords(occasion, drafts.count === 1)}`}
        />
      ))}
    </ul>
  )
}

interface DraftCountProps {
  occasion: string | null
  drafts: Count
  words: string
}

function DraftCount({ occasion, drafts, words }: DraftCountProps) {
  const review = `Review ${formatCount(drafts)} ${drafts.count === 1 ? 'draft' : 'drafts'}`
  return (
    <li className="layout-row">
      <span>{words}</span>
      <a
        href={hrefOf({ screen: 'drafts', occasion })}
        className="control-link"
        aria-label={`${review}: ${occasion === null ? 'Decisions' : nameOfOccasion(occasion)}`}
      >
        {review}
      </a>
    </li>
  )
}

type Drafted = Pick<LettersOverview['templates'][number], 'occasion' | 'drafts'>

function sumOf(all: readonly Drafted[]): Count {
  return {
    count: all.reduce((sum, { drafts }) => sum + drafts.count, 0),
    more: all.some(({ drafts }) => drafts.more),
  }
}

/** The number of applicants to tell each decision: `12 accepted, 6 waitlisted, 20 declined applicants`. */
function decisionWords(decisions: readonly Drafted[]) {
  const counts = decisions.map(({ occasion, drafts }) => `${formatCount(drafts)} ${occasion}`)
  return `${counts.join(', ')} ${sumOf(decisions).count === 1 ? 'applicant' : 'applicants'}`
}

function draftWords(occasion: string, isOne: boolean) {
  const drafts = isOne ? 'draft' : 'drafts'
  return occasion === ''
    ? `${drafts} without a template, ${isOne ? '' : 'each '}written to one person`
    : `${drafts} of “${nameOfOccasion(occasion)}”`
}

const stateWords: Record<OutboxState, (isOne: boolean) => string> = {
  waiting: (isOne) => (isOne ? 'is on the way' : 'are on the way'),
  refused: (isOne) => (isOne ? 'was refused' : 'were refused'),
  'given up': (isOne) => (isOne ? 'was not delivered' : 'were not delivered'),
}

/** The state of sending, the button that stops all letters, and the letters that are pending or failed. */
function Delivery({ postman, settings, states }: LettersOverview) {
  const stop = useDeskAct('desk_stop', {
    success: ({ stopped, leaving = 0 }) =>
      stopped ? 'All letters are stopped.' : leavingWords(leaving, settings.hold_seconds),
  })
  const shown = (Object.keys(stateWords) as OutboxState[]).filter((state) => states[state].count > 0)
  return (
    <Sheet title="On the way">
      <p className={postman.stopped || postman.paused_until !== null ? 'layout-notice error' : 'layout-text'}>
        {deliveryWords(postman)}
      </p>
      {postman.is_there && postman.is_automation_there && !postman.stopped && (
        <p className="layout-text">The decisions that you send are passed to an automation too.</p>
      )}
      {shown.length === 0 && (
        <p className="layout-quiet layout-text">No letters are being sent, and none failed.</p>
      )}
      {shown.length > 0 && (
        <ul className="layout-lines">
          {shown.map((state) => (
            <li key={state}>
              <a href={hrefOf({ screen: 'outbox', state })}>
                {formatCount(states[state])} {stateWords[state](states[state].count === 1)}
              </a>
            </li>
          ))}
        </ul>
      )}
      <ActProblems acts={[stop]} />
      <div className="layout-row">
        <Button
          isOff={postman.stopped}
          isPending={stop.isPending && !postman.stopped}
          onPress={() => stop.press({ stopped: true })}
        >
          Stop all letters
        </Button>
        {/* A button of its own: a second press of the other one must not send what it stopped. */}
        {postman.stopped && (
          <Button
            ref={focusRowOnRemoval}
            isPending={stop.isPending}
            onPress={() => stop.press({ stopped: false })}
          >
            {resumeWords(states.waiting)}
          </Button>
        )}
      </div>
    </Sheet>
  )
}

function resumeWords(waiting: Count) {
  if (waiting.count === 0) return 'Resume sending'
  return waiting.count === 1 ? 'Send the stopped letter' : `Send the ${formatCount(waiting)} stopped letters`
}

function deliveryWords(postman: LettersOverview['postman']) {
  const { is_there: isThere, is_automation_there: isAutomationThere, paused_until: pausedUntil } = postman
  if (postman.stopped) return 'All letters are stopped. Nothing is sent until you resume.'
  if (!isThere && isAutomationThere)
    return 'This site sends no email itself. It passes the decisions that you send to an automation, which writes to applicants.'
  if (!isThere)
    return 'This site has no mail server yet. Until it has one, each letter opens in your own mail program.'
  if (pausedUntil !== null)
    return `The mail server is not accepting letters. Next try after ${momentOf(pausedUntil)}: ${postman.problem}`
  return 'A letter is sent shortly after you press Send. Until then you can stop it.'
}

/** The templates, and a form for the name of a new one. The new template is stored when its text is saved. */
function TemplateList({ templates }: LettersOverview) {
  const title = useContext(SiteTitle)
  const saysDefaultTitle =
    title !== defaultLook.title && templates.some(({ subject }) => subject.includes('Unplugged'))
  const [typed, setUnsent] = useUnsentText<string>('new template')
  const name = typed?.trim() ?? ''
  const exists = templates.some(({ occasion }) => occasion === name)
  const open = () => {
    if (name === '') return
    setUnsent(null)
    go({ screen: 'template', occasion: name })
  }
  return (
    <Sheet title="Templates" isPart>
      {saysDefaultTitle && (
        <p className="layout-notice">
          The page is called “<bdi>{title}</bdi>”. Templates say “Unplugged” until you edit them.
        </p>
      )}
      <ul className="layout-lines">
        {templates.map(({ occasion, subject }) => (
          <li key={occasion}>
            <a href={hrefOf({ screen: 'template', occasion })}>{nameOfOccasion(occasion)}</a>{' '}
            <span className="layout-quiet">{subject}</span>
          </li>
        ))}
      </ul>
      <Form className="layout-field-row" onSend={open}>
        <Field
          label="Name of a new template"
          required
          maxLength={maxCharacters.occasion}
          autoComplete="off"
          placeholder="Travel"
          value={typed ?? ''}
          onText={(text) => setUnsent(text === '' ? null : text)}
        />
        <button className="control-quiet">{exists ? 'Edit template' : 'New template'}</button>
      </Form>
    </Sheet>
  )
}

/** The form for the reply address. */
function ReplyToEdit({ settings: { version, receipts, reply_to: replyTo } }: LettersOverview) {
  const draft = useVersionedDraft({
    input: useUnsentText<Unsaved<{ to: string }>>('reply-to'),
    call: 'desk_set_letters',
    stored: { to: replyTo },
    // The version of all settings cannot be used here, because the switches for automatic letters change it too.
    version: replyTo,
    argsOf: ({ to }) => ({ version, receipts, reply_to: to.trim() }),
    versionOf: (saved) => saved.reply_to,
    success: ({ reply_to: to }) => `Saved. Replies go to ${to || 'the sender'}.`,
  })
  return (
    <Sheet title="Replies" isPart>
      <form onSubmit={draft.onSubmit}>
        <Field
          label="Replies go to"
          hint="One email address. Leave blank for the sender."
          type="email"
          autoComplete="off"
          maxLength={maxCharacters.address}
          value={draft.value.to}
          onText={(to) => draft.enter({ to })}
        />
        <SaveButtons
          draft={draft}
          className="control-quiet"
          conflictNotice={`Somebody else changed this meanwhile: replies go to ${replyTo || 'the sender'} now. Your changes are not saved. Saving now replaces theirs.`}
        />
      </form>
    </Sheet>
  )
}

const checkNames: Record<string, string> = { mail: 'Connection', sender: 'Sender' }

/** The last check of the mail server and the sender's domain, with a button to check again. */
function MailCheck({ postman }: LettersOverview) {
  const { is_checking: isChecking, checked_at: checkedAt, findings } = postman
  const check = useDeskAct('desk_check_mail', {
    success: () => 'Checking the mail server.',
  })
  return (
    <Sheet title="Mail server">
      {checkedAt === null ? (
        <p className="layout-text">
          Checks whether the mail server accepts letters, and whether other mail servers trust their sender.
        </p>
      ) : (
        <>
          <dl className="letters-findings">
            {findings.map(({ about, verdict, said }) => (
              <div key={about} className={verdict === 'wrong' ? 'layout-notice error' : undefined}>
                <dt>
                  {checkNames[about] ?? about}: {verdict}
                </dt>
                <dd>{said}</dd>
              </div>
            ))}
          </dl>
          <p className="layout-quiet layout-text">
            As of {momentOf(checkedAt)}.
            {findings.some(({ verdict }) => verdict === 'wrong') &&
              ' Please tell the person who runs this site.'}
          </p>
        </>
      )}
      <ActProblems acts={[check]} />
      <Button isOff={isChecking} isPending={check.isPending} onPress={() => check.press({})}>
        {isChecking ? 'Checking…' : 'Check the mail server'}
      </Button>
    </Sheet>
  )
}
