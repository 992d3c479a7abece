import { PostgrestError } from '@supabase/postgrest-js'

/** Whether the same may work when it is asked for again: no answer came, or the backend says "not now". */
export function mayRetry(error: unknown): boolean {
  return (
    error instanceof TypeError ||
    (error instanceof PostgrestError && /^(5|PGRST00|08|40|53|57)/.test(error.code))
  )
}

/** What went wrong, in a sentence for an organiser. */
export function sentenceOf(error: unknown): string {
  if (error instanceof TypeError) return 'The server could not be reached. Please check your connection.'
  if (error instanceof Error && error.message !== '') return error.message
  return 'Something went wrong. Please try again.'
}

/** Whether the backend says that whoever calls may not: their session or their right ended. */
export function isRefusal(error: unknown): boolean {
  return error instanceof PostgrestError && /^(42501|PGRST30[0-3])$/.test(error.code)
}
