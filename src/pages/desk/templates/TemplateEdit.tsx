import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'

import { columns } from '../../../application/application.ts'
import { mostCharacters } from '../../../application/limits.ts'
import type { LettersOverview, Template } from '../../../client/desk/letters.ts'
import { announce } from '../kit/announce.tsx'
import { Field, TextField } from '../kit/Field.tsx'
import { upTo } from '../kit/format.ts'
import { Problem } from '../kit/Problem.tsx'
import { Back, Screen } from '../kit/Screen.tsx'
import { useDesk, useDeskAct } from '../kit/useDesk.tsx'
import { go } from '../kit/route.ts'
import { useTyped } from '../kit/useTyped.ts'
import { DraftButtons, useVersionedDraft, type Draft } from '../kit/useVersionedDraft.tsx'
import {
  isNamed,
  mayAsk,
  nameOfOccasion,
  placeHint,
  placeWords,
  received,
  reminder,
} from '../letters/letters.ts'
import { TemplatePreview } from './TemplatePreview.tsx'

/** What letters of one occasion say. */
export function TemplateEdit({ occasion }: { occasion: string }) {
  const query = useQuery(useDesk().letters())
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
            {template && isNamed(occasion) && occasion !== reminder && <TemplateRemove template={template} />}
          </>
        )
      }}
    </Screen>
  )
}

interface TemplateFormProps {
  occasion: string
  /** None where it is not kept yet. */
  template: Template | undefined
}

function TemplateForm({ occasion, template }: TemplateFormProps) {
  const desk = useDesk()
  // Placeholders are inserted into the field that was used last.
  const form = useRef<HTMLFormElement>(null)
  const lastField = useRef<HTMLInputElement | HTMLTextAreaElement>(null)
  const version = template?.version ?? null
  const draft = useVersionedDraft({
    kept: useTyped<Draft<Pick<Template, 'subject' | 'body'>>>(typedInto(occasion)),
    call: 'desk_set_template',
    stored: { subject: template?.subject ?? '', body: template?.body ?? '' },
    version,
    givenOf: (text) => ({ occasion, version, ...text }),
    onSaved(saved) {
      announce('Template saved.')
      desk.keep(desk.letters(), (former) => {
        const { drafts = { count: 0, more: false } } =
          former.templates.find((each) => each.occasion === occasion) ?? {}
        const others = former.templates.filter((each) => each.occasion !== occasion)
        // Their order is known when they are read next.
        return { ...former, templates: [...others, { ...saved, drafts }] }
      })
      return saved.version
    },
  })
  const { value, enter } = draft

  const insert = (placeholder: string) => {
    const field = lastField.current ?? form.current?.querySelector('textarea')
    if (!field) return
    field.focus()
    field.setRangeText(placeholder, field.selectionStart ?? 0, field.selectionEnd ?? 0, 'end')
    enter({ [field.name]: field.value })
  }

  const placeholderButton = (name: string) => (
    <button key={name} type="button" className="quiet" onClick={() => insert(`{{${name}}}`)}>
      {`{{${name}}}`}
    </button>
  )

  return (
    <div className="template columns">
      <form ref={form} className="sheet" onSubmit={draft.onSubmit}>
        {template === undefined && !draft.isEntered && (
          <p className="quietly">This template is new: it is kept when you save it.</p>
        )}
        <Field
          label="Subject"
          name="subject"
          required
          maxLength={mostCharacters.subject}
          value={value.subject}
          onFocus={({ target }) => (lastField.current = target)}
          onText={(subject) => enter({ subject })}
        />
        <TextField
          label="Text"
          name="body"
          required
          maxLength={mostCharacters.body}
          value={value.body}
          onFocus={({ target }) => (lastField.current = target)}
          onText={(body) => enter({ body })}
        />
        <fieldset className="placeholders">
          <legend>Insert an answer</legend>
          {columns
            // A receipt goes to any address that somebody typed, so it quotes the name and nothing else.
            .filter((column) => (occasion === received ? column === 'first_name' : column !== 'consent'))
            .map(placeholderButton)}
        </fieldset>
        {mayAsk(occasion) && (
          <fieldset className="placeholders">
            <legend>Insert for accepted people</legend>
            {Object.keys(placeWords).map(placeholderButton)}
            <p className="hint">{placeHint}</p>
          </fieldset>
        )}
        <DraftButtons
          draft={draft}
          meanwhile="Somebody else changed this template meanwhile. What you entered is still here and not saved: you can save it over how it stands now."
        />
      </form>
      <TemplatePreview occasion={occasion} subject={value.subject} body={value.body} />
    </div>
  )
}

interface TemplateRemoveProps {
  template: LettersOverview['templates'][number]
}

/** Removes a template that organisers named, once they said so twice: its drafts go with it. */
function TemplateRemove({ template: { occasion, version, drafts } }: TemplateRemoveProps) {
  const [isAsked, setIsAsked] = useState(false)
  // The focus goes to the other button, so that pressing Enter again does not remove it.
  const safeButton = useRef<HTMLButtonElement>(null)
  const wasAsked = useRef(false)
  useEffect(() => {
    if (wasAsked.current !== isAsked) safeButton.current?.focus()
    wasAsked.current = isAsked
  }, [isAsked])
  const [, type] = useTyped(typedInto(occasion))
  const remove = useDeskAct('desk_remove_template', () => {
    type(null)
    announce(`Template removed: ${occasion}`)
    go({ screen: 'letters' })
  })
  return (
    <section className="row" aria-label="Removing">
      {isAsked ? (
        <>
          <span>
            Remove this template{drafts.count > 0 && `, and its drafts (${upTo(drafts)})`}? What was sent
            stays.
          </span>
          <button key="keep" ref={safeButton} className="quiet" onClick={() => setIsAsked(false)}>
            Keep
          </button>
          <button key="for-good" className="quiet" onClick={() => remove.press({ occasion, version })}>
            Remove for good
          </button>
        </>
      ) : (
        <button key="remove" ref={safeButton} className="quiet" onClick={() => setIsAsked(true)}>
          Remove
        </button>
      )}
      <Problem error={remove.error} />
    </section>
  )
}

/** The name of what is typed into a template. */
function typedInto(occasion: string): string {
  return `template ${occasion}`
}
