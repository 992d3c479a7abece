import { columns } from '../../application/application.ts'

/** The answers that were typed, by the names of their fields. They are kept as long as the tab. */
type Draft = Partial<Record<string, string>>

const key = 'unplugged-draft'

/** Consent is not kept: it has to be given anew. */
const keptColumns = columns.filter((column) => column !== 'consent')

/** Keeps the form's answers. Where the browser stores nothing for this page, nothing is kept. */
export function keepDraft(form: HTMLFormElement): void {
  const draft: Draft = {}
  for (const column of keptColumns) {
    const value = controlOf(form, column)?.value
    if (value) draft[column] = value
  }
  withStorage((storage) => storage.setItem(key, JSON.stringify(draft)))
}

/** Fills the answers that were kept into fields that are still blank. */
export function restoreDraft(form: HTMLFormElement): void {
  withStorage((storage) => {
    const draft = JSON.parse(storage.getItem(key) ?? '{}') as Draft
    for (const column of keptColumns) {
      const kept = draft[column]
      const control = controlOf(form, column)
      if (kept && control && !control.value) control.value = kept
    }
  })
}

/**
 * A field, or a group of radio buttons, which gives and takes its value as a field does. Not by FormData:
 * that lays out the page each time, before the first paint and on each key.
 */
function controlOf(form: HTMLFormElement, column: string) {
  const control = form.elements.namedItem(column)
  return control && 'value' in control ? (control as { value: string }) : undefined
}

export function forgetDraft(): void {
  withStorage((storage) => storage.removeItem(key))
}

/** A visitor may have switched storage off; then asking for it throws, and the form works without. */
function withStorage(access: (storage: Storage) => void) {
  try {
    access(sessionStorage)
  } catch (error) {
    console.info('Answers are not kept:', error)
  }
}
