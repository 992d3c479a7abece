import { mostCharacters } from '../../../application/limits.ts'
import type { LettersOverview } from '../../../client/desk.ts'
import { Field } from '../kit/Field.tsx'
import { go } from '../kit/usePlace.ts'
import { useTyped } from '../kit/useTyped.ts'

/** Names a new template; it is kept when it has words. */
export function TemplateCreate({ templates }: Pick<LettersOverview, 'templates'>) {
  const [typed, type] = useTyped<string>('new template')
  const occasion = typed?.trim() ?? ''
  const isThere = templates.some((each) => each.occasion === occasion)
  return (
    <form
      className="new-template"
      onSubmit={(event) => {
        event.preventDefault()
        if (occasion === '') return
        type(null)
        go({ screen: 'template', occasion })
      }}
    >
      <Field
        label="Name of a new template"
        required
        maxLength={mostCharacters.occasion}
        autoComplete="off"
        placeholder="Travel"
        value={typed ?? ''}
        onText={(text) => type(text === '' ? null : text)}
      />
      <button className="quiet">{isThere ? 'Edit template' : 'New template'}</button>
    </form>
  )
}
