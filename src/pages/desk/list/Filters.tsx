import { useEffect, useRef, useState, type ReactNode, type RefObject } from 'react'

import { paidSolutions, teamSizes } from '../../../application/application.ts'
import type { Asked } from './asked.ts'

/** Milliseconds without a key after which the search begins. */
const pause = 250

interface FiltersProps {
  asked: Asked
  onAsk: (change: Partial<Asked>) => void
  searchField: RefObject<HTMLInputElement | null>
  /** What stands beside them. */
  children: ReactNode
}

/** What the list is narrowed by: the search in sight, the rest behind a button that counts what is set. */
export function Filters({ asked, onAsk, searchField, children }: FiltersProps) {
  const [isOpen, setIsOpen] = useState(false)
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
  const { team_size, paid_solution, from, to } = asked
  const count = [team_size, paid_solution, from || null, to || null].filter((value) => value !== null).length
  return (
    <search className="filters">
      <div className="row">
        <label htmlFor="search" className="visually-hidden">
          Search
        </label>
        <input
          ref={searchField}
          id="search"
          type="search"
          placeholder="Search"
          autoComplete="off"
          spellCheck={false}
          aria-keyshortcuts="/"
          value={typed ?? asked.search}
          onChange={(event) => search(event.target.value)}
        />
        {(count > 0 || asked.search !== '') && (
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
        <button
          className="quiet"
          aria-expanded={isOpen}
          aria-controls="filters"
          onClick={() => setIsOpen(!isOpen)}
        >
          {count === 0 ? 'Filters' : `Filters (${count})`}
        </button>
        {children}
      </div>
      <div id="filters" className="filter-fields" hidden={!isOpen}>
        <Choice
          label="Team size"
          options={teamSizes}
          value={team_size}
          onChoose={(chosen) => onAsk({ team_size: chosen })}
        />
        <Choice
          label="Paid solution"
          options={paidSolutions}
          value={paid_solution}
          onChoose={(chosen) => onAsk({ paid_solution: chosen })}
        />
        <Day label="From" value={from} onChoose={(day) => onAsk({ from: day })} />
        <Day label="To" value={to} onChoose={(day) => onAsk({ to: day })} />
      </div>
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
