import type { Listed, Read } from '../../../client/desk.ts'
import { shortOf } from '../pieces.ts'

/** The person's name; where it is hidden, what it belongs to. */
export function nameOf({ first_name, last_name }: Pick<Listed | Read, 'first_name' | 'last_name'>): string {
  return first_name === undefined ? 'Application' : shortOf(`${first_name} ${last_name ?? ''}`.trim())
}
