import type { Sql } from './sql.ts'

/** The state of the door. */
export interface Door {
  is_open: boolean
  /** Whether it was closed by hand; otherwise only its time or its number closes it. */
  closed: boolean
  /** What an applicant reads while it is closed; blank for the database's own sentence. */
  sentence: string
  closes_at: Date | null
  closes_after: number | null
  /** Applications since it was opened, where a number closes it. */
  received: number
  /** When it was opened; not set where it has been open from the beginning. */
  opened_at: Date | null
  /** Who changed it last, and when; not set where nobody has. */
  author: string | null
  changed_at: Date | null
}

/** A change of the door. The sentence stays as it is unless given. */
export interface DoorChange {
  closed: boolean
  sentence: string | undefined
  closesAt: Date | undefined
  closesAfter: number | undefined
}

/** Reads the state of the door. */
export async function readDoor(sql: Sql): Promise<Door> {
  const [door] = await sql<[Door]>`
    select state.*, author, at as changed_at
    from jsonb_to_record(private.door_state()) as state (
        is_open boolean, closed boolean, sentence text, closes_at timestamptz, closes_after integer, received integer,
        opened_at timestamptz
      )
      left join lateral (
        select author, at from private.history
        where application_id is null and kind = 'door' order by id desc limit 1
      ) as change on true`
  return door
}

/**
 * Opens or closes the door, in the operator's name.
 *
 * @throws {DatabaseError} 22023 where a value is refused, and PT503 while somebody is applying: its message says why.
 */
export async function setDoor(sql: Sql, change: DoorChange): Promise<void> {
  const { closed, sentence = null, closesAt = null, closesAfter = null } = change
  await sql.begin(async (transaction) => {
    // Locked first, as those who insert do.
    if (closesAfter !== null) await transaction`select private.hold_applying()`
    // Opening it again under the same conditions begins a new count, for which the door has to be closed first.
    await transaction`
      select private.set_door('operator', null, true, sentence, null, null) from private.door
      where not ${closed} and not (private.door_state() ->> 'is_open')::boolean and not closed`
    await transaction`
      select private.set_door(
        'operator', null, ${closed}, coalesce(${sentence}, sentence), ${closesAt}, ${closesAfter})
      from private.door`
  })
}

/** Changes the sentence that applicants read while it is closed, and nothing else: a closed door stays closed. */
export async function setSentence(sql: Sql, sentence: string): Promise<void> {
  await sql`
    select private.set_door('operator', null, closed, ${sentence}, closes_at, closes_after) from private.door`
}
