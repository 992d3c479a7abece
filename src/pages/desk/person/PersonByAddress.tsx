import type { AllAbout } from '../../../client/desk/person.ts'
import type { Filters } from '../data/filters.ts'
import { nameOf } from '../data/names.ts'
import { momentOf } from '../kit/format.ts'
import { hrefOf } from '../data/route.ts'
import { Sheet } from '../kit/Screen.tsx'

interface PersonByAddressProps {
  applications: AllAbout['by_address']
  /** The filters of the list that the person was opened from. */
  filters: Filters
}

/** Applications that may be somebody else's, each with the reason why it is here. They are in no print and no file. */
export function PersonByAddress({ applications, filters }: PersonByAddressProps) {
  if (applications.length === 0) return null
  return (
    <Sheet title="Perhaps about somebody else" className="person-by-address">
      <p>
        Only an address that an organiser entered leads to these applications. They are neither printed nor
        downloaded. If one is about the same person, open everything about that person, too.
      </p>
      <ul className="layout-lines">
        {applications.map((application) => {
          const { id, email, address, created_at } = application
          return (
            <li key={id}>
              <a href={hrefOf({ screen: 'application', id, filters })}>
                <bdi>{nameOf(application)}</bdi>
              </a>
              , <bdi>{email}</bdi>, {momentOf(created_at)}{' '}
              <span className="layout-quiet">
                {address === null
                  ? 'An organiser replaced the address of this person with the email of that application.'
                  : `An organiser replaced the email of that application with ${address}.`}
              </span>
            </li>
          )
        })}
      </ul>
    </Sheet>
  )
}
