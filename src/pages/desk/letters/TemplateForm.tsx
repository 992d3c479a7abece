import { useRef } from 'react'

import { mostCharacters } from '../../../application/limits.ts'
import type { CallDesk, Template } from '../../../client/desk.ts'
import { announce } from '../announcement.ts'
import { sentenceOf } from '../messages.ts'
import { useTyped } from '../typed.ts'
import { isConflict, useKeepStanding, useLetterAct } from './letters.ts'
import { Placeholders } from './Placeholders.tsx'
import { TemplatePreview } from './TemplatePreview.tsx'

interface TemplateFormProps {
  callDesk: CallDesk
  occasion: string
  /** None where it is not kept yet. */
  template: Template | undefined
}

/** What is entered, and the version that it is entered over. */
interface Draft {
  subject: string
  body: string
  over: number | null
}

type Field = HTMLInputElement | HTMLTextAreaElement

/** The name of what is typed into a template. */
export function typedIntoTemplate(occasion: string): string {
  return `template ${occasion}`
}

/** Changes a template. Until something is entered, the fields follow how it stands. */
export function TemplateForm({ callDesk, occasion, template }: TemplateFormProps) {
  const [typed, setDraft] = useTyped<Draft>(typedIntoTemplate(occasion))
  // What stands there already, such as by a save whose answer was lost, is nothing that is entered.
  const isSame = typed !== null && typed.subject === template?.subject && typed.body === template.body
  const draft = isSame ? null : typed
  // Where a placeholder goes: the field that was in use last.
  const bodyField = useRef<HTMLTextAreaElement>(null)
  const lastField = useRef<Field | null>(null)
  const version = template?.version ?? null
  const subject = draft?.subject ?? template?.subject ?? ''
  const body = draft?.body ?? template?.body ?? ''
  const keepStanding = useKeepStanding()
  const save = useLetterAct(
    (text: { subject: string; body: string }, signal) =>
      callDesk('desk_set_template', { occasion, version, ...text }, signal),
    (saved, text) => {
      announce('Template saved.')
      keepStanding((former) => {
        const { drafts = { count: 0, more: false } } =
          former.templates.find((each) => each.occasion === occasion) ?? {}
        const others = former.templates.filter((each) => each.occasion !== occasion)
        // Their order comes with the next look.
        return { ...former, templates: [...others, { ...saved, drafts }] }
      })
      // What was entered while it was being saved is kept.
      setDraft((latest) =>
        latest === null || (latest.subject === text.subject && latest.body === text.body)
          ? null
          : { ...latest, over: saved.version },
      )
    },
  )
  const isStale = draft !== null && !save.isPending && draft.over !== version
  const enter = (change: Partial<Draft>) =>
    setDraft({ subject, body, over: draft ? draft.over : version, ...change })

  const insert = (placeholder: string) => {
    const field = lastField.current ?? bodyField.current
    if (field === null) return
    field.focus()
    field.setRangeText(placeholder, field.selectionStart ?? 0, field.selectionEnd ?? 0, 'end')
    enter(field === bodyField.current ? { body: field.value } : { subject: field.value })
  }

  return (
    <div className="template">
      <form
        className="sheet"
        onSubmit={(event) => {
          event.preventDefault()
          if (save.isPending) return
          // How it stands now has been seen.
          setDraft({ subject, body, over: version })
          save.mutate({ subject, body })
        }}
      >
        {template === undefined && draft === null && (
          <p className="quietly">This template is new: it is kept when you save it.</p>
        )}
        <div className="field">
          <label htmlFor="subject">Subject</label>
          <input
            id="subject"
            type="text"
            required
            maxLength={mostCharacters.subject}
            value={subject}
            onFocus={({ target }) => (lastField.current = target)}
            onChange={({ target }) => enter({ subject: target.value })}
          />
        </div>
        <div className="field">
          <label htmlFor="body">Text</label>
          <textarea
            ref={bodyField}
            id="body"
            required
            maxLength={mostCharacters.body}
            value={body}
            onFocus={({ target }) => (lastField.current = target)}
            onChange={({ target }) => enter({ body: target.value })}
          />
        </div>
        <Placeholders occasion={occasion} onInsert={insert} />
        {isStale && (
          <p className="notice error" role="alert">
            Somebody else changed this template meanwhile. What you entered is still here and not saved: you
            can save it over how it stands now.
          </p>
        )}
        {save.error && !(isConflict(save.error) && isStale) && (
          <p className="notice error" role="alert">
            Not saved. {sentenceOf(save.error)}
          </p>
        )}
        <div className="row">
          <button>{save.isPending ? 'Saving…' : isStale ? 'Save anyway' : 'Save'}</button>
          {draft && !save.isPending && (
            <button type="button" className="quiet" onClick={() => setDraft(null)}>
              Discard
            </button>
          )}
        </div>
      </form>
      <TemplatePreview callDesk={callDesk} occasion={occasion} subject={subject} body={body} />
    </div>
  )
}
