import { maxCharacters } from '../../../application/limits.ts'
import type { Mark, Marks, MarkValue } from '../../../client/desk/marks.ts'
import { Button } from '../kit/Button.tsx'
import { ActProblems } from '../kit/ActProblems.tsx'
import { Field, Form } from '../kit/Field.tsx'
import { Sheet } from '../kit/Screen.tsx'
import { markWords } from './marks.ts'
import type { MarkDraft } from './useMark.ts'

const shortcuts: Record<MarkValue, string> = { yes: '1', maybe: '2', no: '3' }
const values = Object.keys(markWords) as MarkValue[]

/** The buttons of the three marks. A pressed one takes the mark back. */
export function MarkButtons({ draft: { current, mark, save } }: { draft: MarkDraft }) {
  return values.map((value) => (
    <Button
      key={value}
      data-mark={value}
      isPending={save.isPending && save.args?.mark === value}
      aria-pressed={value === current}
      aria-keyshortcuts={shortcuts[value]}
      onPress={() => mark(value === current ? null : value)}
    >
      {markWords[value]}
    </Button>
  ))
}

interface MarkEditProps {
  draft: MarkDraft
  marks: Marks
  /** Whether the bar at the bottom has the buttons. */
  isInBar: boolean
}

/** The organiser's own mark of an application, and the marks of others once they may be seen. */
export function MarkEdit({ draft, marks, isInBar }: MarkEditProps) {
  const { current, why, setWhy, isWhyChanged, mark, save } = draft
  const { own, others, missing } = marks
  return (
    <Sheet title="Your mark" className="application-marks">
      <Form onSend={() => mark(current)}>
        {!isInBar && (
          <fieldset>
            <legend className="visually-hidden">Your mark</legend>
            <div className="layout-row">
              <MarkButtons draft={draft} />
            </div>
          </fieldset>
        )}
        <Field
          label="Reason (one line)"
          autoComplete="off"
          maxLength={maxCharacters.why}
          value={why}
          onText={setWhy}
        />
        {own !== null && isWhyChanged && (
          <Button className="control-quiet" isPending={save.isPending}>
            Save
          </Button>
        )}
      </Form>
      {own !== null && (
        <p className="application-own-mark">
          <MarkText mark={own} />
        </p>
      )}
      <ActProblems acts={[save]} />
      {others === null ? (
        <p className="layout-quiet">
          You see other marks once you have marked this application, or it is decided.
        </p>
      ) : (
        <>
          {others.length > 0 && (
            <ul className="layout-lines">
              {others.map((each) => (
                <li key={each.author}>
                  <MarkText mark={each} />
                </li>
              ))}
            </ul>
          )}
          {missing !== null && missing.length > 0 && (
            <p className="layout-quiet">Not marked by {missing.join(', ')}</p>
          )}
        </>
      )}
      {own?.after_seeing === true && (
        <p className="layout-quiet">
          You saw other marks before you gave or changed yours, so it says “after seeing”.
        </p>
      )}
    </Sheet>
  )
}

function MarkText({ mark: { author, mark, why, after_seeing: isAfterSeeing } }: { mark: Mark }) {
  return (
    <>
      <b>{markWords[mark]}</b> {author}
      {isAfterSeeing && <span className="layout-quiet">, after seeing</span>}
      {why !== '' && (
        <>
          : <bdi>{why}</bdi>
        </>
      )}
    </>
  )
}
