import { useSyncExternalStore } from 'react'

import { storageOf } from '../../../client/storage.ts'
import { createListeners } from './listen.ts'
import { useDesk } from './useDesk.tsx'

/** Unsent text by name, and the account of the person who typed it. */
interface Typed {
  account: string
  texts: Readonly<Record<string, unknown>>
}

/** A new text, null to clear it, or a function of the latest text. */
export type Change<Text> = Text | null | Becomes<Text>
type Becomes<Text> = (latest: Text | null) => Text | null

const storageKey = 'unplugged-desk-drafts'
const storage = storageOf('sessionStorage')
const { subscribe, tell } = createListeners()
const nothing: Typed = { account: '', texts: {} }
let typed = read()

/** Shared by all tabs: signing out in one tab clears the others. */
const shared = storageOf('localStorage')
addEventListener('storage', ({ key }) => key === storageKey && set(nothing))

/**
 * Text that was typed and not sent. It survives Back and a reload, in this tab and for this account only.
 *
 * @param name Of the field, such as `door`, or `note` with the application's id.
 * @returns The text, or null if there is none; and a function that changes it.
 */
export function useTyped<Text>(name: string) {
  const { account } = useDesk()
  const text = useSyncExternalStore(subscribe, () => textsOf(account)[name] ?? null) as Text | null
  const type = useTyping()
  return [text, (change: Change<Text>) => type(name, change)] as const
}

/** Returns a function that changes the text of any field, also after its screen was closed. */
export function useTyping() {
  const { account } = useDesk()
  return <Text>(name: string, change: Change<Text>): void => {
    const { [name]: latest = null, ...others } = textsOf(account)
    const changed = typeof change === 'function' ? (change as Becomes<Text>)(latest as Text | null) : change
    if (changed !== latest)
      set({ account, texts: changed === null ? others : { ...others, [name]: changed } })
  }
}

/** Forgets all typed text, in all tabs. Called on signing out. */
export function forgetTyped(): void {
  set(nothing)
  shared.setItem(storageKey, '')
  shared.removeItem(storageKey)
}

/** Forgets the text of another account, whose session ended without signing out. */
export function forgetOthersTyped(account: string): void {
  if (typed.account !== account) set(nothing)
}

function textsOf(account: string) {
  return typed.account === account ? typed.texts : nothing.texts
}

function set(change: Typed) {
  typed = change
  if (Object.keys(typed.texts).length === 0) storage.removeItem(storageKey)
  else storage.setItem(storageKey, JSON.stringify(typed))
  tell()
}

function read(): Typed {
  const kept = storage.getItem(storageKey)
  return kept === null ? nothing : (JSON.parse(kept) as Typed)
}
