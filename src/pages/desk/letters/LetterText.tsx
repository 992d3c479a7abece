import { Fragment } from 'react'

import { maxCharacters } from '../../../application/limits.ts'
import type { Letter } from '../../../client/desk/letters.ts'
import { Field, TextField } from '../kit/Field.tsx'
import { LongText } from '../kit/LongText.tsx'
import { hrefOf } from '../data/route.ts'
import { isInvitationPlaceholder, partsOf, retreatPlaceholders, retreatWords } from './letters.ts'

/** The text of a letter. */
export type LetterContent = Pick<Letter, 'subject' | 'body'>

interface LetterTextProps {
  text: LetterContent & Pick<Letter, 'missing' | 'unknown' | 'is_long' | 'reply_by'>
}

/** The text of a letter, below notices about placeholders that cannot be filled. */
export function LetterText({ text }: LetterTextProps) {
  const { subject, body, missing, unknown, is_long: isLong, reply_by: replyBy } = text
  const ofRetreat = missing.filter((name) => retreatPlaceholders.includes(name))
  const blank = missing.filter((name) => !isInvitationPlaceholder(name) && !ofRetreat.includes(name))
  return (
    <>
      {isLong && <p className="layout-notice error">Too long once filled in. Only its beginning is shown.</p>}
      {blank.length > 0 && (
        <p className="layout-notice error">Left blank by the applicant: {blank.join(', ')}</p>
      )}
      {ofRetreat.length > 0 && (
        <p className="layout-notice error">
          Not set yet: {ofRetreat.map((name) => retreatWords[name] ?? name).join(' and ')} of the retreat.{' '}
          <a href={hrefOf({ screen: 'retreat' })}>Set the days and the venue</a>
        </p>
      )}
      {missing.length > blank.length + ofRetreat.length && (
        <p className="layout-notice error">
          They cannot answer: they are not accepted, or the deadline has passed. You can move the deadline in
          the application.
        </p>
      )}
      {unknown.length > 0 && <p className="layout-notice error">Unknown placeholder: {unknown.join(', ')}</p>}
      <div className="letters-letter">
        <p className="letters-subject">
          <span className="visually-hidden">Subject: </span>
          <FilledText text={subject} replyBy={replyBy} />
        </p>
        <p className="letters-body">
          <FilledText text={body} replyBy={replyBy} />
        </p>
      </div>
    </>
  )
}

/** A text with words in place of the placeholders that are filled in on sending. */
function FilledText({ text, replyBy }: { text: string; replyBy: string | null | undefined }) {
  return partsOf(text, replyBy).map(({ words, isFilledLater }, index) => (
    // The parts change only when the whole text does.
    // oxlint-disable-next-line react/no-array-index-key
    <Fragment key={index}>
      {isFilledLater ? (
        <span className="letters-later" title="Filled in when the letter is sent">
          {words}
        </span>
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
