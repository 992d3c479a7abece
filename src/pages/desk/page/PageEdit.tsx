import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'

import { factsOf, maxLengths, pageFile, type PageText } from '../../../application/page-words.ts'
import type { PageSettings, ShownFacts } from '../../../client/desk/page.ts'
import { colourIn } from '../../../design/accent.ts'
import { defaultLook, thanksOf, type OperatorLook } from '../../../design/look.ts'
import { light } from '../../../design/palette.ts'
import { readPageData } from '../../page-data.ts'
import type { DeskData } from '../desk-data.ts'
import { Button } from '../kit/Button.tsx'
import { Field, TextField } from '../kit/Field.tsx'
import { Tick } from '../kit/Tick.tsx'
import { momentOf } from '../kit/format.ts'
import { polled } from '../data/queries.ts'
import { hrefOf, type Route } from '../data/route.ts'
import { saveFileAs } from '../kit/save-file.ts'
import { Screen, Sheet } from '../kit/Screen.tsx'
import { useReadSiteTitle } from '../kit/site-title.tsx'
import { useDesk } from '../data/useDesk.tsx'
import { useUnsentText } from '../data/useUnsentText.ts'
import { SaveButtons, useVersionedDraft, type Unsaved } from '../data/useVersionedDraft.tsx'
import { LastChange } from './LastChange.tsx'
import {
  accentProblemOf,
  charactersLeft,
  factNames,
  lookWith,
  operatorTextOf,
  savedOf,
  textNames,
  type Entries,
} from './page.ts'
import { PagePreview } from './PagePreview.tsx'

/** The screen of what the applicants' page says. */
export function PageEdit() {
  const { call } = useDesk()
  const query = useQuery({
    queryKey: ['page'],
    queryFn: ({ signal }) => call('desk_page', {}, signal),
    ...polled,
  })
  const [{ backend, operator }] = useState(() => readPageData() as DeskData)
  return (
    <Screen title="Page" query={query}>
      {(page) => <PageForm {...{ page, operator }} isBuild={backend.url !== null} />}
    </Screen>
  )
}

interface PageFormProps {
  page: PageSettings
  operator: OperatorLook
  /** Whether the page is a build for a hosted project. */
  isBuild: boolean
}

/** The form, with the preview beside it, or behind a tab in a narrow window. */
function PageForm({ page, operator, isBuild }: PageFormProps) {
  const { version, texts, shown, facts, history } = page
  const [last] = history
  const queries = useQueryClient()
  const draft = useVersionedDraft({
    input: useUnsentText<Unsaved<Entries>>('page'),
    call: 'desk_set_page',
    stored: { texts, shown },
    version,
    argsOf: (entries) => ({ version, ...savedOf(entries) }),
    versionOf: (saved) => saved.version,
    success: () => 'Saved.',
    onSuccess: (saved) => queries.setQueryData(['page'], saved),
  })
  const { value: entries, enter } = draft
  const [tab, setTab] = useState<'Edit' | 'Preview'>('Edit')
  const fieldOf = (name: PageText) => ({
    name,
    text: entries.texts[name],
    operatorText: operatorTextOf(name, operator),
    onText: (text: string) => enter({ texts: { ...entries.texts, [name]: text } }),
  })
  const look = lookWith(entries, facts, operator)
  // A build keeps its title until it is built again.
  useReadSiteTitle(isBuild ? null : lookWith({ texts, shown }, facts, operator).title)
  const knownFacts = factsOf(facts)
  const tickOf = (name: keyof ShownFacts) => ({
    name: factNames[name],
    value: knownFacts.find((fact) => fact.name === factNames[name])?.value,
    isOn: entries.shown[name],
    onTick: (isOn: boolean) => enter({ shown: { ...entries.shown, [name]: isOn } }),
  })
  return (
    <div className="page-screen" data-tab={tab}>
      <div className="page-tabs layout-row">
        {(['Edit', 'Preview'] as const).map((name) => (
          <Button key={name} aria-pressed={tab === name} onPress={() => setTab(name)}>
            {name}
          </Button>
        ))}
      </div>
      <div className="page-edit">
        {isBuild && <BuildNotice page={page} hasInput={draft.hasInput} />}
        <form onSubmit={draft.onSubmit}>
          <Sheet title="Words">
            <TextOf {...fieldOf('title')} hint={ifBlank(defaultLook.title)} />
            <TextOf {...fieldOf('tagline')} hint={ifBlank(defaultLook.tagline)} />
            <TextOf {...fieldOf('badge')} hint={ifBlank(defaultLook.badge)} />
            <TextOf
              {...fieldOf('success')}
              rows={3}
              hint={`Applicants read it after sending. ${ifBlank(thanksOf(look.title))}`}
            />
            <TextOf
              {...fieldOf('privacy_url')}
              type="url"
              hint="The address of your page about privacy. If blank, there is no link."
            />
            <TextOf {...fieldOf('privacy_label')} hint={ifBlank(defaultLook.privacyLabel)} />
            <AccentField {...fieldOf('accent')} />
          </Sheet>
          <Sheet title="Facts">
            <fieldset>
              <legend>Show on the page</legend>
              <FactTick {...tickOf('days')} to={{ screen: 'retreat' }} />
              <FactTick {...tickOf('venue')} to={{ screen: 'retreat' }} />
              <FactTick {...tickOf('closing')} to={{ screen: 'door' }} />
            </fieldset>
            <TextOf {...fieldOf('cost')} hint="Such as “Free; you pay your travel”." />
            <TextOf {...fieldOf('hear_back')} hint="Such as “By 15 March”." />
          </Sheet>
          <Sheet title="Your own paragraphs">
            <TextOf
              {...fieldOf('about')}
              rows={10}
              hint="Plain text. A blank line begins a new paragraph. Web and email addresses become links."
            />
          </Sheet>
          <div className="layout-save">
            <SaveButtons
              draft={draft}
              conflictNotice={`${last ? `${last.author} changed the page meanwhile, ${momentOf(last.at)}.` : 'Somebody else changed the page meanwhile.'} Your changes are not saved. Saving now replaces theirs.`}
            />
          </div>
        </form>
        {last?.kind === 'page' && <LastChange last={last} />}
      </div>
      <PagePreview retreat={facts} look={look} />
    </div>
  )
}

const ifBlank = (text: string) => `If blank: “${text}”`

/** How a page that is a build gets what was saved. */
function BuildNotice({ page, hasInput }: { page: PageSettings; hasInput: boolean }) {
  return (
    <div className="layout-notice">
      <p>
        Your page is a build: it changes when it is built again. Save, download {pageFile}, and give it to the
        person who builds your page.
      </p>
      <Button
        isOff={hasInput}
        onPress={() =>
          saveFileAs(new Blob([JSON.stringify(page.page, null, 2)], { type: 'application/json' }), pageFile)
        }
      >
        Download {pageFile}
      </Button>
      {hasInput && <p className="control-hint">Save your changes first.</p>}
    </div>
  )
}

interface TextProps {
  name: PageText
  text: string
  /** The text of the operator's setting, which wins; undefined if there is none. */
  operatorText: string | undefined
  onText: (text: string) => void
}

/** The field of a text, of several lines if it has `rows`. */
function TextOf({
  name,
  text,
  operatorText,
  onText,
  hint,
  rows,
  type,
}: TextProps & { hint: string; rows?: number; type?: 'url' }) {
  const label = textNames[name]
  if (operatorText !== undefined) return <OperatorField {...{ label, operatorText }} />
  const attributes = {
    label,
    hint: [hint, charactersLeft(name, text)].filter(Boolean).join(' '),
    maxLength: maxLengths[name],
    dir: 'auto',
    autoComplete: 'off',
    value: text,
  }
  if (rows === undefined) return <Field {...attributes} {...(type && { type })} onText={onText} />
  const isOneLine = name !== 'about'
  return (
    <TextField
      {...attributes}
      rows={rows}
      onText={(typed) => onText(isOneLine ? typed.replaceAll(/\s*\n\s*/g, ' ') : typed)}
    />
  )
}

/** The field of the accent colour, beside the browser's own field for colours. A colour that is too light is refused. */
function AccentField({ name, text, operatorText, onText }: TextProps) {
  const field = useRef<HTMLInputElement>(null)
  const problem = accentProblemOf(text)
  // With a message, the browser does not send the form, and focuses the field.
  useEffect(() => field.current?.setCustomValidity(problem?.message ?? ''))
  const label = textNames[name]
  if (operatorText !== undefined) return <OperatorField {...{ label, operatorText }} />
  return (
    <>
      <div className="page-accent">
        <Field
          ref={field}
          label={label}
          hint="Buttons, links and chosen options have it. If blank: the page’s own."
          problem={problem?.message ?? ''}
          maxLength={maxLengths.accent}
          autoComplete="off"
          spellCheck={false}
          value={text}
          onText={onText}
        />
        <input
          type="color"
          aria-label={`Choose the ${label.toLowerCase()}`}
          value={colourIn(text) ?? light.ember}
          onChange={({ target }) => onText(target.value)}
        />
      </div>
      {problem?.allowed !== undefined && (
        <Button
          onPress={() => {
            onText(problem.allowed ?? '')
            // The pressed button disappears.
            field.current?.focus()
          }}
        >
          Use {problem.allowed}
        </Button>
      )}
    </>
  )
}

/** A text that the operator's settings have. */
function OperatorField({ label, operatorText }: { label: string; operatorText: string }) {
  return <Field label={label} hint="Set by your operator." readOnly dir="auto" value={operatorText} />
}

interface FactTickProps {
  name: string
  /** The fact itself; undefined if it is not set. */
  value: string | undefined
  isOn: boolean
  onTick: (isOn: boolean) => void
  /** The screen on which it is set. */
  to: Route
}

/** Whether the page shows a fact that is set elsewhere. */
function FactTick({ name, value, isOn, onTick, to }: FactTickProps) {
  return (
    <div className="layout-row page-fact">
      <Tick {...{ isOn, onTick }}>
        {name}: <bdi>{value ?? 'not set'}</bdi>
      </Tick>
      <a className="layout-link" href={hrefOf(to)}>
        {value === undefined ? 'Set' : 'Change'}
        <span className="visually-hidden">: {name}</span>
      </a>
    </div>
  )
}
