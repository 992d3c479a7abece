import type { SupabaseClient } from '@supabase/supabase-js'

import type { Application } from '../../src/application/application.ts'

/** An application in a list of the desk. */
interface Shown extends Application {
  id: string
  created_at: string
  status: string
  version: number
  same_email: boolean
}

/** A page of the list. */
export interface Page {
  applications: Shown[]
  next: { created_at: string; id: string } | null
}

/** An entry of the history. */
export interface HistoryEntry {
  act: string
  at: string
  author: string
  kind: string
  detail: Record<string, unknown>
}

/** One application, with its history. */
export interface Details {
  application: Shown
  history: HistoryEntry[]
  delivery: Record<string, unknown> | null
  others: { id: string; created_at: string; company: string; status: string }[]
}

/** What became of a decision. */
export interface Outcome {
  id: string
  outcome: 'kept' | 'stale' | 'gone'
  status?: string
  version?: number
  author?: string | null
}

/** A page of the history. */
export interface DeskHistory {
  happenings: (HistoryEntry & { id: number })[]
  next: { id: number } | null
}

/** How many there are, and whether there may be more. */
interface Count {
  count: number
  more: boolean
}

/** The counts of the list. */
export interface Overview {
  counts: Record<string, Count>
  since_yesterday: { day: string; new: Count; replied: Count }
  count: number
  more: boolean
  days: Record<string, number>
  team_size: Record<string, number>
  paid_solution: Record<string, number>
}

/**
 * Calls a function of the desk.
 *
 * @returns Its response.
 * @throws The error of the data interface.
 */
export async function askDesk<Result>(
  caller: SupabaseClient,
  name: string,
  args: object = {},
): Promise<Result> {
  const { data, error } = await caller.rpc(`desk_${name}`, args)
  if (error) throw error
  return data as Result
}

export const idsOf = ({ applications }: { applications: { id: string }[] }): string[] =>
  applications.map(({ id }) => id)
