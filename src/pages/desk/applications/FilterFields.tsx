import { paidSolutions, teamSizes } from '../../../application/application.ts'
import { rsvpStates, type RsvpState } from '../../../application/statuses.ts'
import { Choice, Field } from '../kit/Field.tsx'
import type { Filters } from '../data/filters.ts'
import { useReading } from '../data/useReading.ts'

interface FilterFieldsProps {
  filters: Filters
  onChange: (change: Partial<Filters>) => void
}

/** The fields of the filters and of the order. */
export function FilterFields({ filters, onChange }: FilterFieldsProps) {
  const { team_size, paid_solution, answer, from, to, marks, order } = filters
  const { data: reading } = useReading()
  const isShared = reading?.is_shared === true
  return (
    <>
      <Choice
        label="Team size"
        options={optionsOf(teamSizes)}
        value={team_size ?? any}
        onChoose={(chosen) => onChange({ team_size: chosen === any ? null : chosen })}
      />
      <Choice
        label="Paid for a solution"
        options={optionsOf(paidSolutions)}
        value={paid_solution ?? any}
        onChoose={(chosen) => onChange({ paid_solution: chosen === any ? null : chosen })}
      />
      <Choice
        label="Coming?"
        options={rsvpOptions}
        value={answer ?? any}
        // Only accepted people have an RSVP.
        onChoose={(chosen) =>
          onChange(chosen === any ? { answer: null } : { answer: chosen, status: 'accepted' })
        }
      />
      {isShared && (
        <Choice
          label="Marks"
          options={markOptions}
          value={marks ?? any}
          onChoose={(chosen) => onChange({ marks: chosen === any ? null : chosen })}
        />
      )}
      <Field label="Applied from" type="date" value={from} onText={(day) => onChange({ from: day })} />
      <Field label="Applied to" type="date" value={to} onText={(day) => onChange({ to: day })} />
      <Choice
        label="Order"
        options={isShared ? [...orders, ...ordersByMarks] : orders}
        value={order}
        // The shuffled order is for reading, so it comes with the filter for applications without the organiser's own mark.
        onChoose={(chosen) =>
          onChange(chosen === 'shuffled' ? { order: chosen, marks: 'none of mine' } : { order: chosen })
        }
      />
    </>
  )
}

const any = 'any'
const orders: [Filters['order'], string][] = [
  ['newest', 'Newest first'],
  ['oldest', 'Oldest first'],
]
const ordersByMarks: typeof orders = [
  ['most yes', 'Most Yes first'],
  ['shuffled', 'Shuffled'],
]

const markOptions: [NonNullable<Filters['marks']> | typeof any, string][] = [
  [any, 'Any'],
  ['none of mine', 'Not marked by me'],
  ['disagree', 'Organisers disagree'],
]

const rsvpOptions = [[any, 'Any'], ...Object.entries(rsvpStates)] as [RsvpState | typeof any, string][]

function optionsOf<Value extends string>(words: Record<Value, string>) {
  const options = Object.entries(words) as [Value, string][]
  return [[any, 'Any'], ...options, ['', 'No answer']] as [Value | typeof any | '', string][]
}
