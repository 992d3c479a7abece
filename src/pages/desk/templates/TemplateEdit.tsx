import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'

import { columns } from '../../../application/application.ts'
import type { ListedApplication } from '../../../client/desk/applications.ts'
import type { LettersOverview, Template } from '../../../client/desk/letters.ts'
import { Back } from '../data/links.tsx'
import { announce } from '../kit/announce.tsx'
import { Button } from '../kit/Button.tsx'
import { Confirmation, Dialog } from '../kit/Dialog.tsx'
import { Field } from '../kit/Field.tsx'
import { nameOf } from '../data/names.ts'
import { shortMomentOf, formatCount } from '../kit/format.ts'
import { ActProblems } from '../kit/ActProblems.tsx'
import { readRows } from '../data/list.ts'
import { Problem } from '../kit/Problem.tsx'
import { Screen, Sheet } from '../kit/Screen.tsx'
import { useDesk } from '../data/useDesk.tsx'
import { useDeskAct } from '../data/useDeskAct.ts'
import { go } from '../data/route.ts'
import { useUnsentText } from '../data/useUnsentText.ts'
import { SaveButtons, useVersionedDraft, type Unsaved } from '../data/useVersionedDraft.tsx'
import {
  isAfterAcceptance,
  isNeitherDecisionNorReceipt,
  mayAskForRsvp,
  nameOfLetter,
  nameOfOccasion,
  invitationHint,
  invitationWords,
  receipt,
  retreatPlaceholders,
  siteOfDesk,
  withdrawPlaceholder,
} from '../letters/letters.ts'
import { LetterFields, LetterText, type LetterContent } from '../letters/LetterText.tsx'

/** Milliseconds after the last key before the preview or search is updated. */
const updateDelay = 400
/** Maximum number of applications offered for the preview. */
const maxOffered = 5

/** The screen of one template. */
export function TemplateEdit({ occasion }: { occasion: string }) {
  const query = useQuery(useDesk().freshLetters())
  return (
    <Screen
      title={`Template: ${nameOfOccasion(occasion)}`}
      query={query}
      nav={<Back label="In the letters" to={{ screen: 'letters' }} />}
    >
      {({ templates }) => {
        const template = templates.find((each) => each.occasion === occasion)
        return (
          <>
            <TemplateForm occasion={occasion} template={template} />
            {template && isNeitherDecisionNorReceipt(occasion) && !isAfterAcceptance(occasion) && (
              <TemplateRemove template={template} />
            )}
          </>
        )
      }}
    </Screen>
  )
}

/** The form of a template; `template` is undefined until it is first saved. */
function TemplateForm({ occasion, template }: { occasion: string; template: Template | undefined }) {
  // Placeholders are inserted into the field used last.
  const form = useRef<HTMLFormElement>(null)
  const lastField = useRef<HTMLInputElement | HTMLTextAreaElement>(null)
  const version = template?.version ?? null
  const draft = useVersionedDraft({
    input: useUnsentText<Unsaved<LetterContent>>(templateTextName(occasion)),
    call: 'desk_set_template',
    stored: { subject: template?.subject ?? '', body: template?.body ?? '' },
    version,
    argsOf: (text) => ({ occasion, version, ...text }),
    versionOf: (saved) => saved.version,
    success: () => 'Template saved.',
  })
  const { value, enter } = draft

  const insert = (placeholder: string) => {
    const field = lastField.current ?? form.current?.querySelector('textarea')
    if (!field) return
    field.focus()
    field.setRangeText(placeholder, field.selectionStart ?? 0, field.selectionEnd ?? 0, 'end')
    enter({ [field instanceof HTMLTextAreaElement ? 'body' : 'subject']: field.value })
  }

  const placeholderButton = (name: string) => (
    <Button key={name} onPress={() => insert(`{{${name}}}`)}>
      {`{{${name}}}`}
    </Button>
  )

  return (
    <div className="templates-screen layout-columns">
      <form ref={form} className="layout-sheet" onSubmit={draft.onSubmit}>
        {template === undefined && !draft.hasInput && (
          <p className="layout-quiet">This template is not saved yet.</p>
        )}
        <LetterFields value={value} onFocus={({ target }) => (lastField.current = target)} onEnter={enter} />
        <fieldset className="templates-placeholders">
          <legend>Insert about the retreat</legend>
          {retreatPlaceholders
            .filter((name) => occasion !== receipt || name === 'retreat')
            .map(placeholderButton)}
        </fieldset>
        <fieldset className="templates-placeholders">
          <legend>Insert an answer</legend>
          {columns
            // A receipt goes to an unverified address, so it may include only the first name.
            .filter((column) => (occasion === receipt ? column === 'first_name' : column !== 'consent'))
            .map(placeholderButton)}
        </fieldset>
        {mayAskForRsvp(occasion) && (
          <fieldset className="templates-placeholders">
            <legend>Insert for accepted people</legend>
            {Object.keys(invitationWords).map(placeholderButton)}
            <p className="control-hint">{invitationHint}</p>
          </fieldset>
        )}
        {occasion === receipt && (
          <fieldset className="templates-placeholders">
            <legend>Insert a link</legend>
            {placeholderButton(withdrawPlaceholder)}
            <p className="control-hint">With it, applicants can withdraw until you decide.</p>
          </fieldset>
        )}
        {template?.original && !isSameText(template.original, value) && (
          <p className="layout-row">
            <Button onPress={() => enter(template.original ?? {})}>Use the original text</Button>
            <span className="control-hint">It names the retreat, its days and its venue automatically.</span>
          </p>
        )}
        <SaveButtons
          draft={draft}
          conflictNotice="Somebody else changed this template meanwhile. Your changes are not saved. Saving now replaces theirs."
        />
      </form>
      <TemplatePreview occasion={occasion} {...value} />
    </div>
  )
}

function isSameText(one: LetterContent, other: LetterContent) {
  return one.subject === other.subject && one.body === other.body
}

/** Removes a template that organisers named, and its drafts, after a confirmation. */
function TemplateRemove({ template }: { template: LettersOverview['templates'][number] }) {
  const { occasion, version, drafts } = template
  const remove = useDeskAct('desk_remove_template', {
    success: () => `Template removed: ${occasion}`,
    text: templateTextName(occasion),
    onSuccess: () => go({ screen: 'letters' }),
  })
  return (
    <section className="layout-row" aria-label="Removing">
      <Dialog button="Remove" isPending={remove.isPending}>
        {(close) => (
          <Confirmation
            title={`Remove this template${drafts.count > 0 ? `, and its drafts (${formatCount(drafts)})` : ''}?`}
            close={close}
            closeWords="Keep"
            confirm="Remove for good"
            onConfirm={() => remove.press({ occasion, version })}
          >
            <p>Sent letters are kept.</p>
          </Confirmation>
        )}
      </Dialog>
      <ActProblems acts={[remove]} />
    </section>
  )
}

/** The name of a template's text in `useUnsentText`. */
const templateTextName = (occasion: string) => `template ${occasion}`

/** A preview of the text, filled in for the chosen application or the newest one. */
function TemplatePreview({ occasion, subject, body }: LetterContent & { occasion: string }) {
  const desk = useDesk()
  const [chosen, setChosen] = useState<ListedApplication | null>(null)
  const { data: overview } = useQuery(desk.letters())
  const text = {
    occasion,
    subject: useDebounced(subject),
    body: useDebounced(body),
    ...(chosen && { application: chosen.id }),
    // If a server sends letters, it uses its own setting of the site's address.
    ...(overview?.postman.is_there === false && { site: siteOfDesk() }),
  }
  const { data: preview, error } = useQuery({
    queryKey: ['letters', 'preview', text],
    queryFn: ({ signal }) => desk.call('desk_preview', text, signal),
    placeholderData: keepPreviousData,
  })
  const sendTest = useDeskAct('desk_send_test', {
    success: ({ to }) => `A test is on the way to ${to}.`,
  })
  return (
    <Sheet title="Preview">
      <Problem error={error} />
      {(preview || chosen) && (
        <PreviewChoice chosen={chosen} isBlind={preview?.name === null} onChoose={setChosen} />
      )}
      {preview === null && (
        <p className="layout-quiet">
          {chosen ? 'This application is gone.' : 'There is no application to fill it with yet.'}
        </p>
      )}
      {preview && (
        <>
          {chosen === null && (
            <p className="layout-quiet">
              With the newest application: <bdi>{nameOfLetter(preview)}</bdi>
            </p>
          )}
          <LetterText text={preview} />
          {preview.has_no_site === true && (
            <p className="layout-notice error">
              The page’s address is not known, so the paragraph with the link is left out. Your operator can
              set it.
            </p>
          )}
          {overview?.postman.is_there && (
            <Button
              isPending={sendTest.isPending}
              onPress={() => sendTest.press({ occasion, subject, body, application: preview.application })}
            >
              Send me a test
            </Button>
          )}
          <ActProblems acts={[sendTest]} />
        </>
      )}
    </Sheet>
  )
}

interface PreviewChoiceProps {
  /** The application that fills the preview; null for the newest. */
  chosen: ListedApplication | null
  /** Whether the organiser reads blind. If so, the search covers only fields that are not hidden. */
  isBlind: boolean
  onChoose: (application: ListedApplication | null) => void
}

/** A search for the application that fills the preview. */
function PreviewChoice({ chosen, isBlind, onChoose }: PreviewChoiceProps) {
  const field = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState('')
  const search = useDebounced(typed.trim())
  const { call } = useDesk()
  const isSearching = typed.trim() !== '' && search !== ''
  const { data: found, error } = useQuery({
    queryKey: ['letters', 'found', search],
    queryFn: ({ signal }) => readRows(call, { search }, null, maxOffered, signal),
    placeholderData: keepPreviousData,
    enabled: isSearching,
  })
  const offered = isSearching ? found?.applications.slice(0, maxOffered) : undefined
  const choose = (application: ListedApplication | null) => {
    onChoose(application)
    setTyped('')
    announce(application === null ? 'With the newest application' : `With ${nameOf(application)}`)
    // The pressed button disappears.
    field.current?.focus()
  }
  return (
    <div className="templates-with">
      <Field
        ref={field}
        label="Preview with"
        hint={`${isBlind ? 'A word of an answer' : 'A name or an email'}; the newest application otherwise.`}
        type="search"
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onText={setTyped}
      />
      <div aria-live="polite">
        {offered?.length === 0 && <p>Nothing was found.</p>}
        {offered && offered.length > 0 && (
          <ul className="layout-lines templates-found">
            {offered.map((application) => (
              <li key={application.id}>
                <Button onPress={() => choose(application)}>
                  <bdi>{nameOf(application)}</bdi>{' '}
                  <span className="layout-quiet">{shortMomentOf(application.created_at)}</span>
                </Button>
              </li>
            ))}
          </ul>
        )}
      </div>
      <Problem error={isSearching ? error : null} />
      {chosen && (
        <p className="layout-row">
          {/* It may have been chosen before blind reading was switched on. */}
          With <bdi>{nameOf(isBlind ? { id: chosen.id } : chosen)}</bdi>
          <Button onPress={() => choose(null)}>Newest</Button>
        </p>
      )}
    </div>
  )
}

/** The typed text, after a pause in typing. */
function useDebounced(typed: string): string {
  const [text, setText] = useState(typed)
  useEffect(() => {
    const timer = setTimeout(() => setText(typed), updateDelay)
    return () => clearTimeout(timer)
  }, [typed])
  return text
}
