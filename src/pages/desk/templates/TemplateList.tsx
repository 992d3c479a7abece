import { mostCharacters } from '../../../application/limits.ts'
import type { LettersOverview } from '../../../client/desk/letters.ts'
import { Field } from '../kit/Field.tsx'
import { go, hrefOf } from '../kit/route.ts'
import { useTyped } from '../kit/useTyped.ts'
import { nameOfOccasion } from '../letters/letters.ts'

/** What letters say on each occasion, and naming another one. */
export function TemplateList({ templates }: Pick<LettersOverview, 'templates'>) {
  return (
    <>
      <ul className="plain">
        {templates.map(({ occasion, subject }) => (
          <li key={occasion}>
            <a href={hrefOf({ screen: 'template', occasion })}>{nameOfOccasion(occasion)}</a>{' '}
            <span className="quietly">{subject}</span>
          </li>
        ))}
      </ul>
      <TemplateCreate templates={templates} />
    </>
  )
}

/** Names a new template; it is kept when it has words. */
function TemplateCreate({ templates }: Pick<LettersOverview, 'templates'>) {
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
