import { useId } from 'react'

interface ActSwitchProps {
  label: string
  hint: string
  /** Undefined until it is loaded. */
  isOn: boolean | undefined
  /** The new value while it is being saved. It is shown immediately, and cannot be changed until it is saved. */
  pending: boolean | undefined
  onSwitch: (isOn: boolean) => void
}

/** A switch for a setting on the server. */
export function ActSwitch({ label, hint, isOn: stored, pending, onSwitch }: ActSwitchProps) {
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
          aria-describedby={id}
          aria-busy={pending !== undefined || undefined}
          onChange={({ target }) => pending === undefined && onSwitch(target.checked)}
        />
        {label}
      </label>
      <p className="control-hint" id={id}>
        {hint}
      </p>
    </>
  )
}
