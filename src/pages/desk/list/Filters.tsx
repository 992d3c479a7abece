import { useEffect, useRef, useState, type RefObject } from 'react'

import { paidSolutions, teamSizes } from '../../../application/application.ts'
import type { Asked } from './asked.ts'

/** Milliseconds without a key after which the search begins. */
const pause = 250

interface FiltersProps {
  asked: Asked
  onAsk: (change: Partial<Asked>) => void
  searchField: RefObject<HTMLInputElement | null>
}

/** What the list is narrowed by. */
export function Filters({ asked, onAsk, searchField }: FiltersProps) {
  // What is typed and not asked for yet.
  const [typed, setTyped] = useState<string | null>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  // Who opened an application meanwhile is not taken back to the list.
  useEffect(() => () => clearTimeout(timer.current), [])
  const search = (text: string) => {
    setTyped(text)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      onAsk({ search: text })
      setTyped(null)
    }, pause)
  }
  const isNarrowed = asked.team_size !== null || asked.paid_solution !== null || asked.from + asked.to !== ''
  return (
    <search className="filters">
      <div className="field">
        <label htmlFor="search">Search</label>
        <input
          ref={searchField}
          id="search"
          type="search"
          autoComplete="off"
          spellCheck={false}
          aria-keyshortcuts="/"
          value={typed ?? asked.search}
          onChange={(event) => search(event.target.value)}
        />
      </div>
      <Choice
        label="Team size"
        options={teamSizes}
        value={asked.team_size}
        onChoose={(team_size) => onAsk({ team_size })}
      />
      <Choice
        label="Paid solution"
        options={paidSolutions}
        value={asked.paid_solution}
        onChoose={(paid_solution) => onAsk({ paid_solution })}
      />
      <Day label="From" value={asked.from} onChoose={(from) => onAsk({ from })} />
      <Day label="To" value={asked.to} onChoose={(to) => onAsk({ to })} />
      {(isNarrowed || asked.search !== '') && (
        <button
          className="quiet"
          onClick={() => {
            clearTimeout(timer.current)
            setTyped(null)
            onAsk({ search: '', team_size: null, paid_solution: null, from: '', to: '' })
            // The button that was pressed goes.
            searchField.current?.focus()
          }}
        >
          Clear
        </button>
      )}
    </search>
  )
}

interface ChoiceProps<Value extends string> {
  label: string
  options: Record<Value, string>
  value: Value | '' | null
  onChoose: (value: Value | '' | null) => void
}

const any = 'any'

function Choice<Value extends string>({ label, options, value, onChoose }: ChoiceProps<Value>) {
  const id = label.toLowerCase().replace(' ', '-')
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        value={value ?? any}
        onChange={({ target }) => onChoose(target.value === any ? null : (target.value as Value | ''))}
      >
        <option value={any}>Any</option>
        {Object.entries<string>(options).map(([option, words]) => (
          <option key={option} value={option}>
            {words}
          </option>
        ))}
        <option value="">No answer</option>
      </select>
    </div>
  )
}

function Day({ label, value, onChoose }: { label: string; value: string; onChoose: (day: string) => void }) {
  return (
    <div className="field">
      <label htmlFor={label}>{label}</label>
      <input id={label} type="date" value={value} onChange={({ target }) => onChoose(target.value)} />
    </div>
  )
}
