import type { ReactNode } from 'react'

import { LongText } from '../kit/LongText.tsx'

/** A label and its value. A text is shown as it was written. */
export type Fact = readonly [label: string, value: ReactNode]

/** Labels with their values. Those without a value are left out. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl className="person-facts">
      {facts.map(
        ([label, value]) =>
          value !== null &&
          value !== '' && (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{typeof value === 'string' ? <LongText text={value} /> : value}</dd>
            </div>
          ),
      )}
    </dl>
  )
}

interface PartProps {
  title: string
  /** Whether the part has any content. */
  isShown?: boolean
  children: ReactNode
}

/** A part of the data of an application, with its heading; nothing if the part is empty. */
export function Part({ title, isShown = true, children }: PartProps) {
  if (!isShown) return null
  return (
    <>
      <h3>{title}</h3>
      {children}
    </>
  )
}
