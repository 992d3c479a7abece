import { useMemo, type ReactNode } from 'react'

import { paidSolutions, teamSizes, type Application } from '../../../application/application.ts'
import { isBlank, trimmed } from '../../../application/blank.ts'
import { questions, textFields } from '../../../application/fields.ts'
import type { FullApplication } from '../../../client/desk/applications.ts'
import { Button } from '../kit/Button.tsx'
import { linkedInLink, mailLink, phoneLink } from '../letters/contact-links.ts'
import { momentOf } from '../kit/format.ts'
import { LongText, pieceLength } from '../kit/LongText.tsx'
import { isMistypedEmail, meantEmail } from '../letters/mistyped.ts'
import { highlighterOf } from './highlight.tsx'

const links: Partial<Record<keyof Application, (value: string) => string | undefined>> = {
  email: mailLink,
  phone: phoneLink,
  linkedin: linkedInLink,
}

interface FormAnswersProps {
  application: FullApplication
  /** The search that found it; blank without any. */
  search: string
  isRevealing: boolean
  /** Undefined for readers, who may not reveal anything. */
  onReveal: (() => void) | undefined
}

/** All form answers, unchanged. Hidden ones appear when the organiser reveals them. */
export function FormAnswers({ application, search, isRevealing, onReveal }: FormAnswersProps) {
  const { paid_solution, custom_solution, team_size, reason, consent, created_at, added_by } = application
  const isHidden = application.email === undefined
  const highlight = useMemo(() => highlighterOf(search), [search])
  return (
    <>
      {isHidden && (
        <p className="layout-row">
          <span className="layout-quiet">
            Name, email, phone, LinkedIn and company are hidden: blind reading is on.
          </span>
          {onReveal && (
            <Button isPending={isRevealing} onPress={onReveal}>
              Reveal
            </Button>
          )}
        </p>
      )}
      <dl className="application-answers">
        <div className="application-long">
          <dt className="visually-hidden">{questions.reason}</dt>
          <dd>{isBlank(reason) ? <NoAnswer /> : <LongText text={reason} highlight={highlight} />}</dd>
        </div>
        <FormAnswer label="Paid for a solution">
          {paid_solution === '' ? null : paidSolutions[paid_solution]}
        </FormAnswer>
        {!isBlank(custom_solution) && (
          <FormAnswer label="Custom answer">
            <LongText text={custom_solution} highlight={highlight} />
          </FormAnswer>
        )}
        <FormAnswer label="Team size">{team_size === '' ? null : teamSizes[team_size]}</FormAnswer>
        {!isHidden &&
          textFields.map(({ name, label }) => (
            <FormAnswer key={name} label={label}>
              {isBlank(application[name] ?? '') ? null : (
                <>
                  <Contact
                    highlight={highlight}
                    value={(name === 'email' && application.shown_email) || (application[name] ?? '')}
                    address={links[name]?.(application[name] ?? '')}
                  />
                  {name === 'email' && <Mistyped email={application.email ?? ''} />}
                </>
              )}
            </FormAnswer>
          ))}
        <FormAnswer label="Consent">{consent ? 'Yes' : `Not asked: added by ${added_by}`}</FormAnswer>
        <FormAnswer label={consent ? 'Received' : 'Added'}>{momentOf(created_at)}</FormAnswer>
      </dl>
    </>
  )
}

function FormAnswer({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children ?? <NoAnswer />}</dd>
    </div>
  )
}

function NoAnswer() {
  return <span className="layout-quiet">No answer</span>
}

interface ContactProps {
  value: string
  address: string | undefined
  highlight: ReturnType<typeof highlighterOf>
}

function Contact({ value, address, highlight }: ContactProps) {
  if (address === undefined || value.length > pieceLength)
    return <LongText text={value} highlight={highlight} />
  return (
    <ContactLink address={address}>
      <bdi>{highlight?.(value) ?? value}</bdi>
    </ContactLink>
  )
}

/** Says that an email is surely mistyped, with a link that writes to the right one if it is known. */
function Mistyped({ email }: { email: string }) {
  if (!isMistypedEmail(trimmed(email))) return null
  const meant = meantEmail(trimmed(email))
  const address = meant === undefined ? undefined : mailLink(meant)
  return (
    <p className="layout-notice error">
      This is surely mistyped: letters do not reach this person.{' '}
      {address !== undefined && <ContactLink address={address}>Write to {meant}</ContactLink>}
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
