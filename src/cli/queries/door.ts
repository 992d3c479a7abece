import type { Sql } from '../../server/database/connection/sql.ts'

/** Whether applications are open, and what closes them. */
export interface Door {
  is_open: boolean
  /** Whether somebody closed the door by hand; otherwise only `closes_at` or `closes_after` closes it. */
  closed: boolean
  /** The sentence for applicants while the door is closed; blank for the default. */
  sentence: string
  closes_at: Date | null
  /** The number of applications after which the door closes. */
  closes_after: number | null
  /** The number of applications since the opening; counted only while `closes_after` is set. */
  received: number
  /** The time of the last opening; null if the door has been open from the start. */
  opened_at: Date | null
  /** The author and time of the last change; null if there was none. */
  author: string | null
  changed_at: Date | null
}

/** A change of the door. Without a sentence, the old one stays. Without a time or number, nothing closes it automatically. */
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
 * @throws {DatabaseError} 22023 if a value is refused, or PT503 if a number cannot be set while people apply: the message says why.
 */
export async function setDoor(sql: Sql, change: DoorChange): Promise<void> {
  const { closed, sentence = null, closesAt = null, closesAfter = null } = change
  await sql.begin(async (transaction) => {
    // Locks in the same order as inserts.
    if (closesAfter !== null) await transaction`select private.hold_applying()`
    await transaction`select from private.door for update`
    // `set_door` reopens a door that closed automatically only with other limits, or if it was closed by hand. This closes it.
    await transaction`
      select private.set_door('operator', null, true, sentence, null, null) from private.door
      where not ${closed} and not (private.door_state() ->> 'is_open')::boolean and not closed`
    await transaction`
      select private.set_door(
        'operator', null, ${closed}, coalesce(${sentence}, sentence), ${closesAt}, ${closesAfter})
      from private.door`
  })
}

/**
 * Changes only the sentence that applicants read while the door is closed.
 *
 * @throws {DatabaseError} As `setDoor` does.
 */
export async function setSentence(sql: Sql, sentence: string): Promise<void> {
  await sql.begin(async (transaction) => {
    // Locks in the same order as inserts. An organiser may be changing the door at this moment.
    await transaction`select private.hold_applying() from private.door where closes_after is not null`
    await transaction`select from private.door for update`
    await transaction`
      select private.set_door('operator', null, closed, ${sentence}, closes_at, closes_after) from private.door`
  })
}
