import type { ReactNode, Ref } from 'react'

interface TickProps {
  ref?: Ref<HTMLInputElement>
  isOn: boolean
  onTick: (isOn: boolean) => void
  children: ReactNode
}

/** A checkbox with its label. */
export function Tick({ ref, isOn, onTick, children }: TickProps) {
  return (
    <label className="control-tick">
      <input ref={ref} type="checkbox" checked={isOn} onChange={({ target }) => onTick(target.checked)} />
      <span>{children}</span>
    </label>
  )
}
