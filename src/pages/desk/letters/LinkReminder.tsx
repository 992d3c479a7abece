import { useQuery } from '@tanstack/react-query'

import { Button } from '../kit/Button.tsx'
import { ActProblems } from '../kit/ActProblems.tsx'
import { countOf } from '../kit/format.ts'
import { useDesk } from '../data/useDesk.tsx'
import { useDeskAct } from '../data/useDeskAct.ts'
import { reminder } from './letters.ts'

interface LinkReminderProps {
  /** The sentence about the people without their link. */
  children: string
  applications: readonly string[]
  hasNoSite: boolean
  onDrafted?: () => void
}

/** A notice about people who were told without their RSVP link, with the button that drafts them a reminder, which has it. */
export function LinkReminder({ children, applications, hasNoSite, onDrafted }: LinkReminderProps) {
  const write = useDeskAct('desk_write', {
    success(outcomes) {
      const drafted = outcomes.filter(({ outcome }) => outcome === 'drafted').length
      return `${countOf(drafted, 'reminder')} drafted. Nothing has been sent.`
    },
    onSuccess: () => onDrafted?.(),
  })
  const count = applications.length
  return (
    <div className="layout-notice">
      <p>
        {children}{' '}
        {hasNoSite
          ? 'The page’s address is not known. Once your operator has set SITE_URL, you can draft reminders with the link here.'
          : 'A reminder has it. You read the drafts first.'}
      </p>
      <ActProblems acts={[write]} />
      {!hasNoSite && (
        <Button
          isPending={write.isPending}
          onPress={() => write.press({ applications: [...applications], occasion: reminder, again: true })}
        >
          {`Draft ${countOf(count, 'reminder')}`}
        </Button>
      )}
    </div>
  )
}

/** The notice at an applicant who was told without their RSVP link. */
export function LinkReminderToOne({ application, name }: { application: string; name: string }) {
  const { data: overview } = useQuery(useDesk().letters())
  if (!overview?.without_link.includes(application)) return null
  return (
    <LinkReminder applications={[application]} hasNoSite={overview.has_no_site}>
      {`${name} was told without the RSVP link.`}
    </LinkReminder>
  )
}
