import { Link } from 'wouter'

import { statuses } from '../../../application/statuses.ts'
import type { Whole } from '../../../client/desk.ts'
import { momentOf } from '../dates.ts'
import { addressOf, type Asked } from '../list/asked.ts'
import { shortOf } from '../pieces.ts'

/** The other applications of the same e-mail. */
export function Others({ asked, others }: { asked: Asked; others: Whole['others'] }) {
  if (others.length === 0) return null
  return (
    <section className="sheet" aria-labelledby="others">
      <h2 id="others">The same e-mail applied again</h2>
      <ul>
        {others.map(({ id, created_at, company, status }) => (
          <li key={id}>
            <Link href={addressOf({ ...asked, status: 'all' }, id)}>
              <bdi>{shortOf(company)}</bdi>, {momentOf(created_at)}
            </Link>{' '}
            {statuses[status]}
          </li>
        ))}
      </ul>
    </section>
  )
}
