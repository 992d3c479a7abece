import { useQuery } from '@tanstack/react-query'

import type { ListedOrganiser } from '../../../client/desk/marks.ts'
import { useDesk } from '../data/useDesk.tsx'
import { useDeskAct } from '../data/useDeskAct.ts'
import { ActProblems } from '../kit/ActProblems.tsx'
import { Loading } from '../kit/lazy-screen.tsx'
import { Problem } from '../kit/Problem.tsx'
import { Sheet } from '../kit/Screen.tsx'
import { SwitchField } from '../kit/SwitchField.tsx'

/** All organisers, and a switch that makes one a reader. Somebody can always do everything. */
export function OrganisersEdit() {
  const { call } = useDesk()
  const { data, error, refetch } = useQuery({
    queryKey: ['organisers'],
    queryFn: ({ signal }) => call('desk_organisers', {}, signal),
    refetchOnWindowFocus: 'always',
  })
  const setReader = useDeskAct('desk_set_reader', {
    success(organisers, { account, is_reader: isReader }) {
      const organiser = organisers.find((each) => each.account === account)
      return organiser ? `${nameOf(organiser)} may ${isReader ? 'only read' : 'do everything'}.` : ''
    },
  })
  const withAllRights = data?.filter(({ is_reader: isReader }) => !isReader) ?? []
  return (
    <Sheet title="Organisers">
      <p>
        Organisers may do everything, unless they may only read. Then they search and read applications, mark
        them and write notes, and change their own account.
      </p>
      {!data && !error && <Loading />}
      {data && (
        <ul className="layout-lines">
          {data.map((organiser) => (
            <li key={organiser.account}>
              <b>
                <bdi>{nameOf(organiser)}</bdi>
              </b>
              {organiser.name !== null && (
                <span className="layout-quiet">
                  {', '}
                  <bdi>{organiser.email}</bdi>
                </span>
              )}
              {withAllRights.length === 1 && !organiser.is_reader ? (
                <p>May do everything, as somebody has to.</p>
              ) : (
                <SwitchField
                  label={`${nameOf(organiser)} may only read`}
                  isOn={organiser.is_reader}
                  pending={
                    setReader.isPending && setReader.args?.account === organiser.account
                      ? setReader.args.is_reader
                      : undefined
                  }
                  onSwitch={(isReader) =>
                    setReader.press({ account: organiser.account, is_reader: isReader })
                  }
                />
              )}
            </li>
          ))}
        </ul>
      )}
      <Problem error={error} isStale={data !== undefined} onTryAgain={() => void refetch()} />
      <ActProblems acts={[setReader]} />
    </Sheet>
  )
}

const nameOf = ({ name, email }: ListedOrganiser) => name ?? email
