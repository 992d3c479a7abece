import { shortOf } from '../kit/format.ts'

/** An applicant's name, or what is shown if it is blank; if names are hidden, `Application` and the first characters of the application's id. */
export function nameOf({ id, first_name, last_name, name }: Named): string {
  return first_name === undefined
    ? hiddenName(id)
    : shortOf(name ?? `${first_name} ${last_name ?? ''}`.trim())
}

interface Named {
  id: string
  first_name?: string
  last_name?: string
  /** The email, if the name shows nothing. */
  name?: string
}

/** The words for an applicant whose name is hidden. They distinguish the applicants. */
export function hiddenName(application: string): string {
  return `Application ${application.slice(0, 4)}`
}
