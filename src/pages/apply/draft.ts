import { columns } from '../../application/application.ts'

/** The draft of a tab: the typed form answers by field name, or only `sent`, the time when the form was sent. */
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

/** Restores stored form answers into blank fields. Returns the time `HH:MM` when the form was sent, or undefined. */
export function restoreDraft(form: HTMLFormElement): string | undefined {
  const draft = withStorage((storage) => JSON.parse(storage.getItem(key) ?? '{}') as Draft) ?? {}
  for (const column of draftColumns) {
    const value = draft[column]
    const control = controlOf(form, column)
    if (value && control && !control.value) control.value = value
  }
  return draft['sent']
}

/** The key of the note that a send has had no response. */
const unansweredKey = 'unplugged-unanswered'

/** Stores whether the last send has had no response, so that the application may be stored. */
export function storeUnanswered(unanswered: boolean): void {
  withStorage((storage) => {
    if (unanswered) storage.setItem(unansweredKey, '1')
    else storage.removeItem(unansweredKey)
  })
}

/** Whether the last send of this tab has had no response. */
export function isUnanswered(): boolean {
  return withStorage((storage) => storage.getItem(unansweredKey) !== null) === true
}

/**
 * Returns a field, or a group of radio buttons, which also has a value. FormData is not used: it would force a layout on
 * each call, before the first paint and on each key.
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

/** If storage is disabled, accessing it throws. The form then works without storage. */
function withStorage<Result>(access: (storage: Storage) => Result): Result | undefined {
  try {
    return access(sessionStorage)
  } catch (error) {
    console.info('Not stored:', error)
    return undefined
  }
}
