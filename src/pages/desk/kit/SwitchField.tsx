import type { Switch } from './switches.ts'
import { useSwitch } from './useSwitch.ts'

/** A switch for a setting of this browser. */
export function SwitchField({ option, label }: { option: Switch; label: string }) {
  return (
    <label className="control-switch">
      <input
        type="checkbox"
        checked={useSwitch(option)}
        onChange={({ target }) => option.turn(target.checked)}
      />
      {label}
    </label>
  )
}
