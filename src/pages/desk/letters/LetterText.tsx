import { Fragment } from 'react'

import { maxCharacters } from '../../../application/limits.ts'
import type { Letter } from '../../../client/desk/letters.ts'
import { Field, TextField } from '../kit/Field.tsx'
import { LongText } from '../kit/LongText.tsx'
import { isInvitationPlaceholder, partsOf } from './letters.ts'

/** The text of a letter. */
export type LetterContent = Pick<Letter, 'subject' | 'body'>

interface LetterTextProps {
  text: LetterContent & Pick<Letter, 'missing' | 'unknown' | 'is_long'>
}

/** The text of a letter, below notices about placeholders that cannot be filled. */
export function LetterText({ text: { subject, body, missing, unknown, is_long: isLong } }: LetterTextProps) {
  const blank = missing.filter((name) => !isInvitationPlaceholder(name))
  return (
    <>
      {isLong && <p className="layout-notice error">Too long once filled in. Only its beginning is shown.</p>}
      {blank.length > 0 && (
        <p className="layout-notice error">Left blank by the applicant: {blank.join(', ')}</p>
      )}
      {missing.length > blank.length && (
        <p className="layout-notice error">
          They cannot answer: they are not accepted, or the deadline has passed. You can move the deadline in
          the application.
        </p>
      )}
      {unknown.length > 0 && <p className="layout-notice error">Unknown placeholder: {unknown.join(', ')}</p>}
      <div className="letters-letter">
        <p className="letters-subject">
          <span className="visually-hidden">Subject: </span>
          <FilledText text={subject} />
        </p>
        <p className="letters-body">
          <FilledText text={body} />
        </p>
      </div>
    </>
  )
}

/** A text with words in place of the placeholders that are filled in on sending. */
function FilledText({ text }: { text: string }) {
  return partsOf(text).map(({ words, isFilledLater }, index) => (
    // The parts change only when the whole text does.
    // oxlint-disable-next-line react/no-array-index-key
    <Fragment key={index}>
      {isFilledLater ? (
        <span className="letters-later">{words}</span>
      ) : (
        words !== '' && <LongText text={words} />
      )}
    </Fragment>
  ))
}

interface LetterFieldsProps {
  value: LetterContent
  onEnter: (change: Partial<LetterContent>) => void
  /** The hint under the text. */
  hint?: string
  /** Whether the subject takes the focus when it appears. */
  takesFocus?: boolean
  readOnly?: boolean
  onFocus?: (event: { target: HTMLInputElement | HTMLTextAreaElement }) => void
}

/** The fields for the text of a letter. */
export function LetterFields({ value, onEnter, hint, takesFocus = false, ...field }: LetterFieldsProps) {
  return (
    <>
      <Field
        label="Subject"
        required
        takesFocus={takesFocus}
        maxLength={maxCharacters.subject}
        value={value.subject}
        onText={(subject) => onEnter({ subject })}
        {...field}
      />
      <TextField
        label="Text"
        hint={hint}
        required
        maxLength={maxCharacters.body}
        value={value.body}
        onText={(body) => onEnter({ body })}
        {...field}
      />
    </>
  )
}
