import type { ReactNode } from 'react'

import { paidSolutions, teamSizes } from '../../../application/application.ts'
import { daysOf } from '../../../application/calendar.ts'
import { questions, textFields } from '../../../application/fields.ts'
import { rsvpStates, statuses } from '../../../application/statuses.ts'
import type { AllAboutApplication } from '../../../client/desk/person.ts'
import { HistoryText } from '../applications/HistoryText.tsx'
import { nameOfEdition } from '../editions/editions.ts'
import { momentOf } from '../kit/format.ts'
import { LongText } from '../kit/LongText.tsx'
import { nameOfOccasion, partsOf } from '../letters/letters.ts'
import { Facts, Part } from './Facts.tsx'
import { callWords, deadlineWords, deliveryName, deliveryWords, letterWords } from './person.ts'

const markNames = { yes: 'Yes', maybe: 'Maybe', no: 'No' }
const momentOrNone = (time: string | null) => (time === null ? null : momentOf(time))

/** One application with everything that is known about it. */
export function PersonApplication({ about }: { about: AllAboutApplication }) {
  const { id, created_at, answers, consent, status, invitation, marks, history, letters, deliveries, acts } =
    about
  return (
    <section className="layout-sheet" aria-labelledby={id}>
      <h2 id={id}>
        {consent.added_by === null ? 'Application of' : 'Added on'} {momentOf(created_at)}
      </h2>
      <Facts
        facts={[
          ['Retreat', retreatWords(about.edition)],
          ['Status', statuses[status.status]],
          ['Since', momentOrNone(status.set_at)],
          ['Withdrawn', momentOrNone(status.withdrawn_at)],
          ['Link to withdraw', about.has_withdrawal_link ? 'They have one. It is not shown.' : null],
          ['Letters go to', about.address],
          ['Kept', about.hold && keptWords(about.hold)],
          ['Id', id],
        ]}
      />
      <Part title={consent.added_by === null ? 'What they wrote' : 'What an organiser wrote'}>
        <Facts
          facts={[
            ...textFields.map(({ name, label }) => [label, answers[name]] as const),
            [questions.paid_solution, answers.paid_solution && paidSolutions[answers.paid_solution]],
            ['Custom answer', answers.custom_solution],
            [questions.team_size, answers.team_size && teamSizes[answers.team_size]],
            [questions.reason, answers.reason],
          ]}
        />
      </Part>
      <Part title="Consent">
        <p>
          {consent.added_by === null
            ? `Given on ${momentOf(consent.at)}: “${consent.sentence}”`
            : `Not asked: added by ${consent.added_by} on ${momentOf(consent.at)}`}
        </p>
      </Part>
      {invitation && (
        <Part title="Invitation">
          <Facts
            facts={[
              ['Accepted', invitation.is_accepted ? 'Yes' : 'Not any more'],
              [
                'Link',
                invitation.has_link ? 'They have one. It is not shown: with it, others could answer.' : null,
              ],
              ['Told', momentOrNone(invitation.told_at)],
              ['Reminded', momentOrNone(invitation.reminded_at)],
              ['Deadline', deadlineWords(invitation)],
              ['Coming?', invitation.rsvp && rsvpStates[invitation.rsvp]],
              ['Answered', momentOrNone(invitation.rsvp_at)],
            ]}
          />
        </Part>
      )}
      <Part title="Answers to questions" isShown={about.questions.length > 0}>
        <Facts
          facts={about.questions.map(({ question, is_private, answer, answered_at }) => [
            is_private ? `${question} (private)` : question,
            <>
              <LongText text={answer} /> <Quiet>{momentOf(answered_at)}</Quiet>
            </>,
          ])}
        />
      </Part>
      <Part title="Marks of organisers" isShown={marks.length > 0 || about.are_marks_hidden}>
        <ul className="layout-lines">
          {marks.map(({ author, mark, why, at, is_after_seeing }) => (
            <li key={`${author} ${at}`}>
              {mark === null ? 'Taken back' : markNames[mark]}
              {why !== '' && `: ${why}`}{' '}
              <Quiet>
                {author}, {momentOf(at)}
                {is_after_seeing && ', after seeing marks of others'}
              </Quiet>
            </li>
          ))}
        </ul>
        {about.are_marks_hidden && (
          <p className="layout-quiet">
            Marks of other organisers are left out until you have marked this application, or it is decided.
          </p>
        )}
      </Part>
      <Part title="History" isShown={history.length > 0}>
        <ul className="layout-lines">
          {history.map((entry) => (
            <li key={entry.act}>
              <HistoryText entry={entry} />
              <Quiet>
                {entry.author === 'applicant' ? 'the applicant' : entry.author}, {momentOf(entry.at)}
              </Quiet>
            </li>
          ))}
        </ul>
      </Part>
      <Part title="Letters" isShown={letters.length > 0}>
        <ul className="layout-lines">
          {letters.map((letter) => (
            <li key={letter.id}>
              {nameOfOccasion(letter.template ?? '')} <Quiet>{letterWords(letter)}</Quiet>
              {letter.subject === null ? (
                <Quiet>It has the text of its template.</Quiet>
              ) : (
                <Text subject={letter.subject} body={letter.body} />
              )}
            </li>
          ))}
        </ul>
      </Part>
      <Part title="Deliveries" isShown={deliveries.length > 0}>
        <ul className="layout-lines">
          {deliveries.map((delivery) => (
            <li key={delivery.id}>
              {deliveryName(delivery)} <Quiet>{deliveryWords(delivery)}</Quiet>
              <Text subject={delivery.subject} body={delivery.body} />
            </li>
          ))}
        </ul>
      </Part>
      <Part title="What was done in the last day" isShown={acts.length > 0}>
        <p className="layout-quiet">
          Kept for a day, so that nothing is done twice if a browser sends it again.
        </p>
        <ul className="layout-lines">
          {acts.map(({ act, at, call, author }) => (
            <li key={act}>
              {callWords(call)}{' '}
              <Quiet>
                {author ?? 'the applicant'}, {momentOf(at)}
              </Quiet>
            </li>
          ))}
        </ul>
      </Part>
    </section>
  )
}

function Quiet({ children }: { children: ReactNode }) {
  return <span className="layout-quiet">{children}</span>
}

/** The text of a letter, with words in place of the link and the deadline. */
function Text({ subject, body }: { subject: string | null; body: string | null }) {
  const words = (text: string) =>
    partsOf(text)
      .map(({ words: part, isFilledLater }) => (isFilledLater ? `[${part}]` : part))
      .join('')
  if (subject === null) return null
  return (
    <div className="person-letter">
      <p className="person-subject">
        <span className="visually-hidden">Subject: </span>
        <LongText text={words(subject)} />
      </p>
      <p className="person-body">
        <LongText text={words(body ?? '')} />
      </p>
    </div>
  )
}

function keptWords({ reason, held_by, held_at }: NonNullable<AllAboutApplication['hold']>) {
  return `${reason} (${held_by}, ${momentOf(held_at)})`
}

function retreatWords({ number, name, starts_on, ends_on, venue }: AllAboutApplication['edition']) {
  const days = starts_on && ends_on ? daysOf({ starts_on, ends_on }) : ''
  return [nameOfEdition({ id: number, name }), days, venue].filter(Boolean).join(', ')
}
