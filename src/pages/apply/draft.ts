import { columns } from '../../application/application.ts'

/** The answers that were typed, by the names of their fields, or when they were sent. They are kept as long as the tab. */
type Draft = Partial<Record<string, string>>

const key = 'unplugged-draft'

/** Consent is not kept: it has to be given anew. */
const keptColumns = columns.filter((column) => column !== 'consent')

/** Keeps the form's answers. Returns whether the browser stored them. */
export function keepDraft(form: HTMLFormElement): boolean {
  const draft: Draft = {}
  for (const column of keptColumns) {
    const value = controlOf(form, column)?.value
    if (value) draft[column] = value
  }
  return store(draft)
}

/** Keeps in place of the answers that they were sent now. */
export function keepSent(): void {
  store({ sent: new Date().toTimeString().slice(0, 5) })
}

/** Fills the answers that were kept into fields that are still blank. Returns when they were sent, where they were. */
export function restoreDraft(form: HTMLFormElement): string | undefined {
  const draft = withStorage((storage) => JSON.parse(storage.getItem(key) ?? '{}') as Draft) ?? {}
  for (const column of keptColumns) {
    const kept = draft[column]
    const control = controlOf(form, column)
    if (kept && control && !control.value) control.value = kept
  }
  return draft['sent']
}

/**
 * A field, or a group of radio buttons, which gives and takes its value as a field does. Not by FormData:
 * that lays out the page each time, before the first paint and on each key.
 */
function controlOf(form: HTMLFormElement, column: string) {
  const control = form.elements.namedItem(column)
  return control && 'value' in control ? (control as { value: string }) : undefined
}

function store(draft: Draft) {
  const isStored = withStorage((storage) => {
    storage.setItem(key, JSON.stringify(draft))
    return true
  })
  return isStored === true
}

/** A visitor may have switched storage off; then asking for it throws, and the form works without. */
function withStorage<Result>(access: (storage: Storage) => Result): Result | undefined {
  try {
    return access(sessionStorage)
  } catch (error) {
    console.info('Answers are not kept:', error)
    return undefined
  }
}
