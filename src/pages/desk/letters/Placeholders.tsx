import { columns } from '../../../application/application.ts'

/** The answers that a letter may quote; each is put where the cursor was. */
export function Placeholders({ onInsert }: { onInsert: (placeholder: string) => void }) {
  return (
    <fieldset className="placeholders">
      <legend>Insert an answer</legend>
      {columns
        .filter((column) => column !== 'consent')
        .map((column) => (
          <button key={column} type="button" className="quiet" onClick={() => onInsert(`{{${column}}}`)}>
            {`{{${column}}}`}
          </button>
        ))}
    </fieldset>
  )
}
