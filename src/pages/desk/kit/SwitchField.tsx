import { useId } from 'react'

interface SwitchFieldProps {
  label: string
  hint?: string
  /** Undefined until it is loaded. */
  isOn: boolean | undefined
  /** The new value while it is being saved. It is shown immediately, and cannot be changed until it is saved. */
  pending?: boolean | undefined
  onSwitch: (isOn: boolean) => void
}

/** A switch for a setting. */
export function SwitchField({ label, hint, isOn: stored, pending, onSwitch }: SwitchFieldProps) {
  const id = useId()
  const isOn = pending ?? stored
  return (
    <>
      <label className="control-switch">
        <input
          type="checkbox"
          role="switch"
          checked={isOn ?? false}
          aria-checked={isOn ?? false}
          disabled={isOn === undefined}
          aria-describedby={hint && id}
          aria-busy={pending !== undefined || undefined}
          onChange={({ target }) => pending === undefined && onSwitch(target.checked)}
        />
        {label}
      </label>
      {hint && (
        <p className="control-hint" id={id}>
          {hint}
        </p>
      )}
    </>
  )
}
