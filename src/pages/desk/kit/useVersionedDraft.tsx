import { useRef, type ReactNode, type SyntheticEvent } from 'react'

import type { ActName, Result } from '../../../client/desk/calls.ts'
import { ActButton } from './ActButton.tsx'
import { Button } from './Button.tsx'
import { ActProblems } from './ActProblems.tsx'
import { isConflict } from './Problem.tsx'
import { useDeskAct, type Given } from './useDeskAct.ts'
import type { Change } from './useTyped.ts'

/** What was entered and not saved, and the version that it was entered over. */
export interface Unsaved<Value> {
  value: Value
  over: string | number | null
}

interface VersionedDraftOptions<Name extends ActName, Value> {
  /** Where it is kept: see `useTyped`. */
  kept: readonly [Unsaved<Value> | null, (change: Change<Unsaved<Value>>) => void]
  /** What is stored, and its version. */
  stored: Value
  version: string | number | null
  /** The call that saves it over the version that is shown. */
  call: Name
  givenOf: (value: Value) => Given<Name>
  /** The version that came of it, and what is announced. */
  versionOf: (saved: Result<Name>) => string | number | null
  says: (saved: Result<Name>) => string
  /** Called while its screen is shown. */
  onSaved?: () => void
}

/** A text over a version. Until something is entered, it follows how it stands. */
export interface VersionedDraft<Value> {
  value: Value
  isEntered: boolean
  isSaving: boolean
  /** Whether what it was entered over has changed since. */
  isStale: boolean
  /** Why it was not saved; nothing where that is that it has changed, which is said instead. */
  error: Error | null
  enter: (change: Partial<Value>) => void
  discard: () => void
  onSubmit: (event: SyntheticEvent) => void
}

/** Something that is entered over what stands, kept until it is saved, and never saved over what nobody has seen. */
export function useVersionedDraft<Name extends ActName, Value extends object>(
  options: VersionedDraftOptions<Name, Value>,
): VersionedDraft<Value> {
  const { kept, stored, version, call, givenOf, versionOf, says, onSaved } = options
  const [typed, keep] = kept
  const saving = useRef<Value>(null)
  const act = useDeskAct(call, {
    says,
    fails: 'Not saved.',
    onSuccess(saved) {
      const over = versionOf(saved)
      // What was entered while it was being saved is kept.
      keep((latest) => (latest === null || isSame(latest.value, saving.current) ? null : { ...latest, over }))
      onSaved?.()
    },
  })
  // What stands there already, such as by a save whose answer was lost, is nothing that is entered.
  const draft = typed === null || isSame(typed.value, stored) ? null : typed
  const value = draft?.value ?? stored
  const isStale = draft !== null && !act.isPending && draft.over !== version
  return {
    value,
    isEntered: draft !== null,
    isSaving: act.isPending,
    isStale,
    error: isStale && isConflict(act.error) ? null : act.error,
    enter: (change) => keep({ value: { ...value, ...change }, over: draft ? draft.over : version }),
    discard: () => keep(null),
    onSubmit(event) {
      event.preventDefault()
      if (act.isPending) return
      saving.current = value
      // The stored value has been seen. One that nobody changed is nothing that is entered.
      if (draft !== null) keep({ value, over: version })
      act.press(givenOf(value))
    },
  }
}

function isSame(one: unknown, other: unknown) {
  return JSON.stringify(one) === JSON.stringify(other)
}

interface SaveButtonsProps {
  draft: Pick<VersionedDraft<object>, 'isEntered' | 'isSaving' | 'isStale' | 'error' | 'discard'>
  /** What is said where it changed meanwhile. */
  meanwhile: ReactNode
  /** What the button says that saves it. */
  save?: string
  className?: string
  /** In place of Discard, where the form is closed with it. */
  onCancel?: () => void
}

/** The buttons under such a draft, and what came of it. */
export function SaveButtons({ draft, meanwhile, save = 'Save', className, onCancel }: SaveButtonsProps) {
  const { isEntered, isSaving, isStale, error, discard } = draft
  return (
    <>
      {isStale && (
        <p className="layout-notice error" role="alert">
          {meanwhile}
        </p>
      )}
      <ActProblems acts={[{ error, fails: 'Not saved.' }]} />
      <div className="layout-row">
        <ActButton className={className} isPending={isSaving}>
          {isStale ? 'Save anyway' : save}
        </ActButton>
        {onCancel ? (
          <Button onPress={onCancel}>Cancel</Button>
        ) : (
          isEntered && !isSaving && <Button onPress={discard}>Discard</Button>
        )}
      </div>
    </>
  )
}
