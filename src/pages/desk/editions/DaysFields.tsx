import { Field } from '../kit/Field.tsx'

/** The first and the last day of a retreat, as `2026-12-31`; blank until they are known. */
interface Days {
  start: string
  end: string
}

/** The fields for the days of a retreat. If one is filled in, the other is required. */
export function DaysFields({ start, end, onDays }: Days & { onDays: (change: Partial<Days>) => void }) {
  const required = start !== '' || end !== ''
  return (
    <div className="edition-days">
      <Field
        label="First day"
        type="date"
        min="2000-01-01"
        max="2999-12-31"
        required={required}
        value={start}
        onText={(day) => onDays({ start: day })}
      />
      <Field
        label="Last day"
        type="date"
        min={start || '2000-01-01'}
        max="2999-12-31"
        required={required}
        value={end}
        onText={(day) => onDays({ end: day })}
      />
    </div>
  )
}
