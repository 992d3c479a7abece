import { useRef, type ReactNode, type SyntheticEvent } from 'react'

import type { Result } from '../../../client/desk/calls.ts'
import { Button } from '../kit/Button.tsx'
import { ActProblems } from '../kit/ActProblems.tsx'
import { focusRowOnRemoval } from '../kit/focus.ts'
import { isConflict } from '../kit/Problem.tsx'
import type { DeskActName } from './acts.ts'
import { useDeskAct, type Args } from './useDeskAct.ts'
import type { Change } from './useUnsentText.ts'

/** Unsaved input. */
export interface Unsaved<Value> {
  value: Value
  /** The saved version that the input began from. */
  over: string | number | null
}

interface VersionedDraftOptions<Name extends DeskActName, Value> {
  /** The text, its setter and its name, from `useUnsentText`. */
  input: readonly [Unsaved<Value> | null, (change: Change<Unsaved<Value>>) => void, name: string]
  /** The saved value and its version. */
  stored: Value
  version: string | number | null
  /** The call that saves the input, if the version shown is still the saved one. */
  call: Name
  argsOf: (value: Value) => Args<Name>
  /** The version after saving. */
  versionOf: (saved: Result<Name>) => string | number | null
  /** The announcement after saving. */
  success: (saved: Result<Name>) => string
  /** Called only while its screen is open. */
  onSuccess?: (saved: Result<Name>) => void
}

/** A form that edits a saved value. Until something is entered, it shows the current saved value. */
export interface VersionedDraft<Value> {
  value: Value
  hasInput: boolean
  isSaving: boolean
  /** Whether the saved value has changed since the input began. */
  isStale: boolean
  /** The error of the last save; null for a conflict, which `isStale` covers. */
  error: Error | null
  enter: (change: Partial<Value>) => void
  discard: () => void
  onSubmit: (event: SyntheticEvent) => void
}

/** Stores the input of a form until it is saved. A save never replaces a value that the organiser has not seen. */
export function useVersionedDraft<Name extends DeskActName, Value extends object>(
  options: VersionedDraftOptions<Name, Value>,
): VersionedDraft<Value> {
  const { input, stored, version, call, argsOf, versionOf, success, onSuccess } = options
  const [typed, setInput, about] = input
  const valueBeingSaved = useRef<Value>(null)
  const act = useDeskAct(call, {
    success,
    about,
    onSaved(saved) {
      const over = versionOf(saved)
      // Input entered while saving stays.
      setInput((latest) =>
        latest === null || isSame(latest.value, valueBeingSaved.current) ? null : { ...latest, over },
      )
    },
    onSuccess,
  })
  // Input equal to the saved value is no change: an earlier save may have succeeded without a response.
  const draft = typed === null || isSame(typed.value, stored) ? null : typed
  const value = draft?.value ?? stored
  // Input that would be saved as what is stored is no change either, such as a space at its end.
  const isUnchanged = draft === null || isSame(argsOf(draft.value), argsOf(stored))
  const isStale = !isUnchanged && !act.isPending && draft.over !== version
  return {
    value,
    hasInput: draft !== null,
    isSaving: act.isPending,
    isStale,
    error: isStale && isConflict(act.error) ? null : act.error,
    enter: (change) => setInput({ value: { ...value, ...change }, over: isUnchanged ? version : draft.over }),
    discard: () => setInput(null),
    onSubmit(event) {
      event.preventDefault()
      if (act.isPending) return
      valueBeingSaved.current = value
      // The form has shown a version that somebody saved meanwhile, so this save may replace it.
      if (draft !== null) setInput({ value, over: version })
      act.press(argsOf(value))
    },
  }
}

function isSame(one: unknown, other: unknown) {
  return JSON.stringify(one) === JSON.stringify(other)
}

interface SaveButtonsProps {
  draft: Pick<VersionedDraft<object>, 'hasInput' | 'isSaving' | 'isStale' | 'error' | 'discard'>
  /** The notice for a conflict. */
  conflictNotice: ReactNode
  /** The words of the save button. A screen with several says what each saves. */
  save?: string
  /** The thing that is saved, if several save buttons share the words. */
  about?: string
  className?: string
  /** Shows Cancel in place of Discard, for a form that closes. */
  onCancel?: () => void
}

/** The buttons of a draft form, and the messages about a failed save. */
export function SaveButtons({
  draft,
  conflictNotice,
  save = 'Save',
  about,
  className,
  onCancel,
}: SaveButtonsProps) {
  const { hasInput, isSaving, isStale, error, discard } = draft
  return (
    <>
      {isStale && (
        <p className="layout-notice error" role="alert">
          {conflictNotice}
        </p>
      )}
      <ActProblems acts={[{ error, failure: 'Not saved.' }]} />
      <div className="layout-row">
        <Button className={className} about={about} isPending={isSaving} isOff={isStale}>
          {save}
        </Button>
        {onCancel ? (
          <Button onPress={onCancel}>Cancel</Button>
        ) : (
          hasInput && !isSaving && <Button onPress={discard}>Discard</Button>
        )}
        {/* A button of its own, and the last one: a press meant for another button must not replace the work of somebody else. */}
        {isStale && (
          <Button ref={focusRowOnRemoval} className={className} isPending={false}>
            Save anyway
          </Button>
        )}
        {hasInput && !isSaving && !isStale && <span className="layout-quiet">Not saved yet.</span>}
      </div>
    </>
  )
}
