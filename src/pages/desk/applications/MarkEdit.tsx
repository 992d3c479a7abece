import type { Mark, Marks, MarkValue } from '../../../client/desk/marks.ts'
import { maxCharacters } from '../../../application/limits.ts'
import { ActButton } from '../kit/ActButton.tsx'
import { ActProblems } from '../kit/ActProblems.tsx'
import { Field, Form } from '../kit/Field.tsx'
import { Sheet } from '../kit/Screen.tsx'
import { useDeskAct } from '../kit/useDeskAct.ts'
import { useKeys } from '../kit/useKeys.ts'
import { useUnsentText } from '../kit/useUnsentText.ts'

const words: Record<MarkValue, string> = { yes: 'Yes', maybe: 'Maybe', no: 'No' }
const keys: Record<MarkValue, string> = { yes: '1', maybe: '2', no: '3' }
const values = Object.keys(words) as MarkValue[]

interface MarkEditProps {
  application: string
  name: string
  marks: Marks
  /** Whether keys mark it. */
  takesKeys: boolean
}

/** The organiser's own mark of an application, and the marks of others once they may be seen. */
export function MarkEdit({ application, name, marks: { own, others, missing }, takesKeys }: MarkEditProps) {
  const [typed, setTyped] = useUnsentText<string>(`mark ${application}`)
  const save = useDeskAct('desk_mark', {
    success: (_marks, { mark }) => `${name}: ${mark === null ? 'no mark' : `your mark is ${words[mark]}`}`,
    failure: 'Mark not saved.',
    onSuccess: () => setTyped(null),
    queuesLatest: true,
  })
  const current = (save.isPending ? save.args?.mark : own?.mark) ?? null
  const stored = own?.why ?? ''
  const why = typed ?? stored
  const mark = (value: MarkValue | null) => {
    if (value !== current || (value !== null && why !== stored)) save.press({ application, mark: value, why })
  }
  useKeys(
    takesKeys
      ? { 1: () => mark('yes'), 2: () => mark('maybe'), 3: () => mark('no'), 0: () => mark(null) }
      : {},
  )
  return (
    <Sheet title="Your mark" className="application-marks">
      <Form onSend={() => mark(current)}>
        <fieldset>
          <legend className="visually-hidden">Your mark</legend>
          <div className="layout-row">
            {values.map((value) => (
              <ActButton
                key={value}
                isPending={save.isPending && save.args?.mark === value}
                aria-pressed={value === current}
                aria-keyshortcuts={keys[value]}
                onPress={() => mark(value === current ? null : value)}
              >
                {words[value]}
              </ActButton>
            ))}
          </div>
        </fieldset>
        <Field
          label="Why, in a line"
          autoComplete="off"
          maxLength={maxCharacters.why}
          value={why}
          onText={(text) => setTyped(text === stored ? null : text)}
        />
        {own !== null && why !== stored && (
          <ActButton className="control-quiet" isPending={save.isPending}>
            Save
          </ActButton>
        )}
      </Form>
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
      {own?.after_seeing === true && <p className="layout-quiet">Your mark says “after seeing”.</p>}
    </Sheet>
  )
}

function MarkText({ mark: { author, mark, why, after_seeing: isAfterSeeing } }: { mark: Mark }) {
  return (
    <>
      <b>{words[mark]}</b> {author}
      {isAfterSeeing && <span className="layout-quiet">, after seeing</span>}
      {why !== '' && (
        <>
          : <bdi>{why}</bdi>
        </>
      )}
    </>
  )
}
