import { useState } from 'react'
import { useLocation } from 'wouter'

import type { LettersStanding } from '../../../client/desk.ts'
import { templateOf } from './places.ts'

/** Names a new template; it is kept when it has words. */
export function NewTemplate({ templates }: Pick<LettersStanding, 'templates'>) {
  const [name, setName] = useState('')
  const [, navigate] = useLocation()
  const isThere = templates.some(({ occasion }) => occasion === name.trim())
  return (
    <form
      className="new-template"
      onSubmit={(event) => {
        event.preventDefault()
        if (name.trim() !== '') navigate(templateOf(name.trim()))
      }}
    >
      <div className="field">
        <label htmlFor="template-name">Name of a new template</label>
        <input
          id="template-name"
          type="text"
          required
          maxLength={60}
          autoComplete="off"
          placeholder="Travel"
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
      </div>
      <button className="quiet">{isThere ? 'Edit template' : 'New template'}</button>
    </form>
  )
}
