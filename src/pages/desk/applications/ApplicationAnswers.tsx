import type { ReactNode } from 'react'

import { paidSolutions, teamSizes, type Application } from '../../../application/application.ts'
import { isBlank, trimmed } from '../../../application/blank.ts'
import { questions, textFields } from '../../../application/fields.ts'
import type { FullApplication } from '../../../client/desk/applications.ts'
import { ActButton } from '../kit/ActButton.tsx'
import { linkedInLink, mailLink, phoneLink } from '../letters/contact-links.ts'
import { momentOf, shortOf } from '../kit/format.ts'
import { LongText, pieceLength } from '../kit/LongText.tsx'
import { meantEmail } from '../letters/mistyped.ts'

const links: Partial<Record<keyof Application, (value: string) => string | undefined>> = {
  email: mailLink,
  phone: phoneLink,
  linkedin: linkedInLink,
}

/** The applicant's company, team size and contact links in one line; nothing while names are hidden. */
export function ContactFacts({ application }: { application: FullApplication }) {
  const { company, team_size, email } = application
  if (email === undefined) return null
  const contacts = [
    ['LinkedIn', links.linkedin?.(application.linkedin ?? '')],
    ['email', links.email?.(email)],
    ['phone', links.phone?.(application.phone ?? '')],
  ] as const
  return (
    <p className="application-facts">
      <bdi>{shortOf(company ?? '')}</bdi>
      {team_size !== '' && <span>{teamSizes[team_size]}</span>}
      {contacts.map(
        ([word, address]) =>
          address !== undefined && (
            <ContactLink key={word} {...{ address }}>
              {word}
            </ContactLink>
          ),
      )}
    </p>
  )
}

interface FormAnswersProps {
  application: FullApplication
  isRevealing: boolean
  onReveal: () => void
}

/** All form answers, unchanged. Hidden ones appear when the organiser reveals them. */
export function FormAnswers({ application, isRevealing, onReveal }: FormAnswersProps) {
  const { paid_solution, custom_solution, team_size, reason, consent, created_at } = application
  const isHidden = application.email === undefined
  return (
    <>
      {isHidden && (
        <p className="layout-row">
          <span className="layout-quiet">
            Name, email, phone, LinkedIn and company are hidden: blind reading is on.
          </span>
          <ActButton isPending={isRevealing} onPress={onReveal}>
            Reveal
          </ActButton>
        </p>
      )}
      <dl className="application-answers">
        <div className="application-long">
          <dt className="visually-hidden">{questions.reason}</dt>
          <dd>
            <LongText text={reason} />
          </dd>
        </div>
        <FormAnswer label="Paid for a solution">
          {paid_solution === '' ? null : paidSolutions[paid_solution]}
        </FormAnswer>
        {!isBlank(custom_solution) && (
          <FormAnswer label="Custom answer">
            <LongText text={custom_solution} />
          </FormAnswer>
        )}
        <FormAnswer label="Team size">{team_size === '' ? null : teamSizes[team_size]}</FormAnswer>
        {!isHidden &&
          textFields.map(({ name, label }) => (
            <FormAnswer key={name} label={label}>
              {isBlank(application[name] ?? '') ? null : (
                <>
                  <Contact
                    value={(name === 'email' && application.shown_email) || (application[name] ?? '')}
                    address={links[name]?.(application[name] ?? '')}
                  />
                  {name === 'email' && <Mistyped email={application.email ?? ''} />}
                </>
              )}
            </FormAnswer>
          ))}
        <FormAnswer label="Consent">{consent ? 'Yes' : 'No'}</FormAnswer>
        <FormAnswer label="Received">{momentOf(created_at)}</FormAnswer>
      </dl>
    </>
  )
}

function FormAnswer({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children ?? <span className="layout-quiet">No answer</span>}</dd>
    </div>
  )
}

function Contact({ value, address }: { value: string; address: string | undefined }) {
  if (address === undefined || value.length > pieceLength) return <LongText text={value} />
  return (
    <ContactLink address={address}>
      <bdi>{value}</bdi>
    </ContactLink>
  )
}

/** Says that an email is surely mistyped, with a link that writes to the right one. */
function Mistyped({ email }: { email: string }) {
  const meant = meantEmail(trimmed(email))
  const address = meant === undefined ? undefined : mailLink(meant)
  if (address === undefined) return null
  return (
    <p className="layout-notice error">
      This is surely mistyped: letters do not reach this person.{' '}
      <ContactLink address={address}>Write to {meant}</ContactLink>
    </p>
  )
}

function ContactLink({ address, children }: { address: string; children: ReactNode }) {
  return (
    <a href={address} {...(address.startsWith('http') && { target: '_blank', rel: 'noopener noreferrer' })}>
      {children}
    </a>
  )
}
