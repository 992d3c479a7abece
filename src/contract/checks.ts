import { accessChecks } from './access-checks.ts'
import type { Check } from './check.ts'
import { insertChecks } from './insert-checks.ts'
import { originChecks } from './origin-checks.ts'

/**
 * The checks of a backend, whether it is our own server or PostgREST 12 to 16, alone or behind Supabase's gateway.
 *
 * The first check stores the target's application. No other check stores anything, since nobody could remove it afterwards. To
 * show that a row is accepted, a check sends it with a second row that has to be refused: the refusal then names the second row.
 * A row that has to be refused copies the stored form answers where it can. If a backend lacks the checked rule, it refuses the
 * row as a duplicate instead. A request to change or delete names only the target's email. If the door is closed, the first check
 * throws `DoorClosedError`. The checks that rely on the stored application are then skipped. The others still hold: the door is
 * the last reason for which a row is refused.
 *
 * @see https://docs.postgrest.org/en/v14/references/errors.html
 */
export const checks: readonly Check[] = [...insertChecks, ...accessChecks, ...originChecks]
