import { useQuery } from '@tanstack/react-query'

import { isBlank } from '../../../application/blank.ts'
import { serverTime } from '../../../client/clock.ts'
import type { AllAbout } from '../../../client/desk/person.ts'
import { Back } from '../data/links.tsx'
import { announce } from '../kit/announce.tsx'
import { Button } from '../kit/Button.tsx'
import type { Filters } from '../data/filters.ts'
import { nameOf } from '../data/names.ts'
import { countOf, momentOf } from '../kit/format.ts'
import { saveFile } from '../kit/save-file.ts'
import { Screen, Sheet } from '../kit/Screen.tsx'
import { useDesk } from '../data/useDesk.tsx'
import { Facts } from './Facts.tsx'
import { PersonByAddress } from './PersonByAddress.tsx'
import { backupWords } from './person.ts'
import { PersonApplication } from './PersonApplication.tsx'

interface PersonShowProps {
  /** The id of one of the person's applications. */
  id: string
  /** The filters of the list that it was opened from. */
  filters: Filters
}

/** Everything about the person of an application, to read, print and download, such as for a subject access request. */
export function PersonShow({ id, filters }: PersonShowProps) {
  const { call } = useDesk()
  const query = useQuery({
    queryKey: ['person', id],
    queryFn: async ({ signal }) => {
      const about = await call('desk_all_about', { application: id }, signal)
      return { ...about, at: new Date(serverTime()).toISOString() }
    },
    // The data does not stay in memory after the screen closes.
    gcTime: 0,
  })
  return (
    <Screen
      title="Everything about a person"
      query={query}
      nav={<Back label="In the application" to={{ screen: 'application', id, filters }} />}
    >
      {({ by_address: byAddress, ...about }) => (
        <div className="layout-settings">
          <Person about={about} />
          <PersonByAddress applications={byAddress} filters={filters} />
        </div>
      )}
    </Screen>
  )
}

/** What the person is given, on paper or as a file. */
function Person({ about }: { about: Omit<AllAbout, 'by_address'> & { at: string } }) {
  const { email, at, applications, left_out: leftOut, account } = about
  const [newest] = applications
  const download = () => {
    saveFile(new Blob([JSON.stringify(about, null, 2)], { type: 'application/json' }), 'person', 'json')
    announce('Downloaded everything about this person.')
  }
  return (
    <div className="person-screen">
      <p>
        {newest && !isBlank(newest.answers.first_name + newest.answers.last_name) && (
          <>
            <bdi>{nameOf({ ...newest.answers, id: newest.id })}</bdi>,{' '}
          </>
        )}
        <bdi>{email}</bdi>: {countOf(applications.length + leftOut, 'application')}, as of {momentOf(at)}.
        {leftOut > 0 && ` The ${applications.length} newest are here. The operator’s command has all.`}
      </p>
      <form className="layout-row" aria-label="Export">
        <Button onPress={() => print()}>Print</Button>
        <Button onPress={download}>Download JSON</Button>
      </form>
      <p>
        {backupWords}{' '}
        <span className="person-operator">Your operator knows for how long, and can search them.</span>
      </p>
      {applications.map((application) => (
        <PersonApplication key={application.id} about={application} />
      ))}
      {account && (
        <Sheet title="Account at the desk">
          <Facts
            facts={[
              ['Email', account.email],
              ['Name', account.name],
              ['Since', account.created_at && momentOf(account.created_at)],
              ['Last sign-in', account.last_sign_in_at && momentOf(account.last_sign_in_at)],
              ['Organiser since', account.organiser_since && momentOf(account.organiser_since)],
              ['Reads blind', account.blind === null ? null : account.blind ? 'Yes' : 'No'],
              ['Only reads', account.reads_only === null ? null : account.reads_only ? 'Yes' : 'No'],
              ['Reader', account.is_reader === null ? null : account.is_reader ? 'Yes' : 'No'],
              ['Notices', account.notices],
              [
                'As an organiser',
                account.history !== null &&
                  `${countOf(account.history, 'event')} in the history, ${countOf(account.marks ?? 0, 'mark')}`,
              ],
              ['Anything else', account.history === null && 'Only they and your operator can see it.'],
            ]}
          />
        </Sheet>
      )}
    </div>
  )
}
