import { useLocation } from 'wouter'

import { mostCharacters } from '../../../application/limits.ts'
import type { LettersOverview } from '../../../client/desk.ts'
import { useTyped } from '../typed.ts'
import { templateOf } from './places.ts'

/** Names a new template; it is kept when it has words. */
export function NewTemplate({ templates }: Pick<LettersOverview, 'templates'>) {
  const [typed, type] = useTyped<string>('new template')
  const name = typed ?? ''
  const [, navigate] = useLocation()
  const isThere = templates.some(({ occasion }) => occasion === name.trim())
  return (
    <form
      className="new-template"
      onSubmit={(event) => {
        event.preventDefault()
        if (name.trim() === '') return
        type(null)
        navigate(templateOf(name.trim()))
      }}
    >
      <div className="field">
        <label htmlFor="template-name">Name of a new template</label>
        <input
          id="template-name"
          type="text"
          required
          maxLength={mostCharacters.occasion}
          autoComplete="off"
          placeholder="Travel"
          value={name}
          onChange={({ target }) => type(target.value === '' ? null : target.value)}
        />
      </div>
      <button className="quiet">{isThere ? 'Edit template' : 'New template'}</button>
    </form>
  )
}
