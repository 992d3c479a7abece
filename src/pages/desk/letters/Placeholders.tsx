import { columns } from '../../../application/application.ts'
import { received } from './words.ts'

interface PlaceholdersProps {
  occasion: string
  onInsert: (placeholder: string) => void
}

/** The answers that a letter may quote; each is put where the cursor was. */
export function Placeholders({ occasion, onInsert }: PlaceholdersProps) {
  return (
    <fieldset className="placeholders">
      <legend>Insert an answer</legend>
      {columns
        // A receipt goes to whatever address was given: it quotes a name, and nothing else.
        .filter((column) => (occasion === received ? column === 'first_name' : column !== 'consent'))
        .map((column) => (
          <button key={column} type="button" className="quiet" onClick={() => onInsert(`{{${column}}}`)}>
            {`{{${column}}}`}
          </button>
        ))}
    </fieldset>
  )
}
