import { paidSolutions, teamSizes } from '../../../application/application.ts'
import { rsvpStates, type RsvpState } from '../../../application/statuses.ts'
import { Choice, Field } from '../kit/Field.tsx'
import type { Filters } from '../kit/filters.ts'

interface FilterFieldsProps {
  filters: Filters
  onChange: (change: Partial<Filters>) => void
}

/** The fields of the filters and of the order. */
export function FilterFields({ filters, onChange }: FilterFieldsProps) {
  const { team_size, paid_solution, answer, from, to, order } = filters
  return (
    <>
      <Choice
        label="Team size"
        options={optionsOf(teamSizes)}
        value={team_size ?? any}
        onChoose={(chosen) => onChange({ team_size: chosen === any ? null : chosen })}
      />
      <Choice
        label="Paid solution"
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
      <Field label="Applied from" type="date" value={from} onText={(day) => onChange({ from: day })} />
      <Field label="Applied to" type="date" value={to} onText={(day) => onChange({ to: day })} />
      <Choice
        label="Order"
        options={orders}
        value={order}
        onChoose={(chosen) => onChange({ order: chosen })}
      />
    </>
  )
}

const any = 'any'
const orders = [
  ['newest', 'Newest first'],
  ['oldest', 'Oldest first'],
] as const

const rsvpOptions = [[any, 'Any'], ...Object.entries(rsvpStates)] as [RsvpState | typeof any, string][]

function optionsOf<Value extends string>(words: Record<Value, string>) {
  const options = Object.entries(words) as [Value, string][]
  return [[any, 'Any'], ...options, ['', 'No answer']] as [Value | typeof any | '', string][]
}
