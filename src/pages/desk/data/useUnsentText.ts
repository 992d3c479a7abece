import { useSyncExternalStore } from 'react'

import { storageOf } from '../../../client/storage.ts'
import { createListeners } from '../kit/listen.ts'
import { useDesk } from './useDesk.tsx'

/** Unsent text and ids of acts without a response, by name, and the account of the person who typed or pressed. */
interface UnsentTexts {
  account: string
  texts: Readonly<Record<string, unknown>>
}

/** A new text, null to clear it, or a function of the latest text. */
export type Change<Text> = Text | null | Update<Text>
type Update<Text> = (latest: Text | null) => Text | null

const storageKey = 'unplugged-desk-drafts'
const storage = storageOf('sessionStorage')
const { subscribe, notify } = createListeners()
/** Calls a function whenever any text changes. Returns a function that ends this. */
export const subscribeToUnsentText = subscribe
const empty: UnsentTexts = { account: '', texts: {} }
let unsent = read()

/** Shared by all tabs: signing out in one tab clears the others. */
const shared = storageOf('localStorage')
addEventListener('storage', ({ key }) => key === storageKey && store(empty))

/**
 * Text that was typed and not sent. It survives Back and a reload, in this tab and for this account only.
 *
 * @param name The name of the field, such as `door`, or `note` with the application's id.
 * @returns The text, or null if there is none; a function that changes it; and the name.
 */
export function useUnsentText<Text>(name: string) {
  const { account } = useDesk()
  const text = useSyncExternalStore(subscribe, () => unsentTextOf<Text>(account, name))
  return [text, (change: Change<Text>) => setUnsentText(account, name, change), name] as const
}

/** The current text of a field; null if there is none. */
export function unsentTextOf<Text>(account: string, name: string): Text | null {
  return (textsOf(account)[name] ?? null) as Text | null
}

/** Changes the text of a field. */
export function setUnsentText<Text>(account: string, name: string, change: Change<Text>): void {
  const { [name]: _former, ...others } = textsOf(account)
  const latest = unsentTextOf<Text>(account, name)
  const changed = typeof change === 'function' ? (change as Update<Text>)(latest) : change
  if (changed !== latest)
    store({ account, texts: changed === null ? others : { ...others, [name]: changed } })
}

/** Forgets all typed text, in all tabs. Called on signing out. */
export function forgetUnsentText(): void {
  store(empty)
  shared.setItem(storageKey, '')
  shared.removeItem(storageKey)
}

/** Forgets what is unsent about something, by its id: the names of its fields and acts contain that. */
export function forgetUnsentTextAbout(account: string, id: string): void {
  for (const name of Object.keys(textsOf(account))) if (name.includes(id)) setUnsentText(account, name, null)
}

/** Forgets the text of another account, whose session ended without signing out. */
export function forgetOthersUnsentText(account: string): void {
  if (unsent.account !== account) store(empty)
}

function textsOf(account: string) {
  return unsent.account === account ? unsent.texts : empty.texts
}

function store(change: UnsentTexts) {
  unsent = change
  if (Object.keys(unsent.texts).length === 0) storage.removeItem(storageKey)
  else storage.setItem(storageKey, JSON.stringify(unsent))
  notify()
}

function read(): UnsentTexts {
  const stored = storage.getItem(storageKey)
  return stored === null ? empty : (JSON.parse(stored) as UnsentTexts)
}
