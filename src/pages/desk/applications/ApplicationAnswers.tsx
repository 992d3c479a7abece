import type { ReactNode } from 'react'

import { paidSolutions, teamSizes, type Application } from '../../../application/application.ts'
import { questions, textFields } from '../../../application/fields.ts'
import type { Read } from '../../../client/desk/applications.ts'
import { momentOf } from '../kit/format.ts'
import { LongText, pieceLength } from '../kit/LongText.tsx'
import { linkedInLink, mailLink, phoneLink } from './contact-links.ts'

const links: Partial<Record<keyof Application, (given: string) => string | undefined>> = {
  email: mailLink,
  phone: phoneLink,
  linkedin: linkedInLink,
}

/** All answers as they were given. Hidden ones appear when the organiser reveals them. */
export function ApplicationAnswers({ application, onReveal }: { application: Read; onReveal: () => void }) {
  const { paid_solution, custom_solution, team_size, reason, consent, created_at } = application
  const isHidden = application.email === undefined
  return (
    <>
      {isHidden && (
        <p className="row">
          <span className="quietly">
            Name, e-mail, phone, LinkedIn and company are hidden: you read blind.
          </span>
          <button className="quiet" onClick={onReveal}>
            Reveal
          </button>
        </p>
      )}
      <dl className="answers">
        <Answer label={questions.reason} className="long">
          <LongText text={reason} />
        </Answer>
        <Answer label={questions.paid_solution}>
          {paid_solution === '' ? null : paidSolutions[paid_solution]}
        </Answer>
        {custom_solution !== '' && (
          <Answer label="In own words">
            <LongText text={custom_solution} />
          </Answer>
        )}
        <Answer label={questions.team_size}>{team_size === '' ? null : teamSizes[team_size]}</Answer>
        {!isHidden &&
          textFields.map(({ name, label }) => (
            <Answer key={name} label={label}>
              <Contact given={application[name] ?? ''} address={links[name]?.(application[name] ?? '')} />
            </Answer>
          ))}
        <Answer label={questions.consent}>{consent ? 'Yes' : 'No'}</Answer>
        <Answer label="Received">{momentOf(created_at)}</Answer>
      </dl>
    </>
  )
}

function Answer({ label, className, children }: { label: string; className?: string; children: ReactNode }) {
  return (
    <div className={className}>
      <dt>{label}</dt>
      <dd>{children ?? <span className="quietly">No answer</span>}</dd>
    </div>
  )
}

function Contact({ given, address }: { given: string; address: string | undefined }) {
  if (address === undefined || given.length > pieceLength) return <LongText text={given} />
  return (
    <a
      href={address}
      {...(address.startsWith('http') ? { target: '_blank', rel: 'noopener noreferrer' } : {})}
    >
      <bdi>{given}</bdi>
    </a>
  )
}
