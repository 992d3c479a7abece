import { columns } from '../../application/application.ts'

/** The typed form answers, by field name; or `sent`, the time when they were sent. They are stored for the tab. */
type Draft = Partial<Record<string, string>>

const key = 'unplugged-draft'

/** Consent is not stored: it must be given again. */
const draftColumns = columns.filter((column) => column !== 'consent')

/** Stores the form answers. Returns whether the browser stored them. */
export function storeDraft(form: HTMLFormElement): boolean {
  const draft: Draft = {}
  for (const column of draftColumns) {
    const value = controlOf(form, column)?.value
    if (value) draft[column] = value
  }
  return write(draft)
}

/** Replaces the stored form answers with the current time. */
export function storeSentTime(): void {
  write({ sent: new Date().toTimeString().slice(0, 5) })
}

/** Restores stored answers into blank fields. Returns the time `HH:MM` when they were sent; undefined if they were not. */
export function restoreDraft(form: HTMLFormElement): string | undefined {
  const draft = withStorage((storage) => JSON.parse(storage.getItem(key) ?? '{}') as Draft) ?? {}
  for (const column of draftColumns) {
    const value = draft[column]
    const control = controlOf(form, column)
    if (value && control && !control.value) control.value = value
  }
  return draft['sent']
}

/**
 * A field, or a group of radio buttons, which has a value too. FormData would force a layout on each call, before the first paint
 * and on each key.
 */
function controlOf(form: HTMLFormElement, column: string) {
  const control = form.elements.namedItem(column)
  return control && 'value' in control ? (control as { value: string }) : undefined
}

function write(draft: Draft) {
  const isStored = withStorage((storage) => {
    storage.setItem(key, JSON.stringify(draft))
    return true
  })
  return isStored === true
}

/** If storage is disabled, access throws, and the form works without it. */
function withStorage<Result>(access: (storage: Storage) => Result): Result | undefined {
  try {
    return access(sessionStorage)
  } catch (error) {
    console.info('Answers are not kept:', error)
    return undefined
  }
}
