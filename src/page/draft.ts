import { columns } from '../application/application.ts'

/** What was typed, kept for as long as the tab: an answer by the name of its field. */
type Draft = Partial<Record<string, string>>

const key = 'unplugged-draft'

/** Consent is not kept: it has to be given anew. */
const keptColumns = columns.filter((column) => column !== 'consent')

/** Keeps the form's answers. Where the browser stores nothing for this page, nothing is kept. */
export function keepDraft(form: HTMLFormElement): void {
  const data = new FormData(form)
  const draft: Draft = {}
  for (const column of keptColumns) {
    const value = data.get(column)
    if (typeof value === 'string' && value !== '') draft[column] = value
  }
  withStorage((storage) => storage.setItem(key, JSON.stringify(draft)))
}

/** Fills the answers that were kept into fields that are still blank. */
export function restoreDraft(form: HTMLFormElement): void {
  withStorage((storage) => {
    const draft = JSON.parse(storage.getItem(key) ?? '{}') as Draft
    const typed = new FormData(form)
    for (const column of keptColumns) {
      const kept = draft[column]
      const control = form.elements.namedItem(column)
      // A group of radio buttons takes its value as a field does.
      if (kept && !typed.get(column) && control && 'value' in control) control.value = kept
    }
  })
}

export function forgetDraft(): void {
  withStorage((storage) => storage.removeItem(key))
}

/** A visitor may have switched storage off; then asking for it throws, and the form works without. */
function withStorage(access: (storage: Storage) => void) {
  try {
    access(sessionStorage)
  } catch (error) {
    console.info('Answers are not kept over a reload:', error)
  }
}
