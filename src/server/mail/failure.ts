/**
 * Why a mail server could not be spoken to, for the log: the machine's own words.
 *
 * @returns Nothing where the mail server answered, whose words may quote an address: its code tells.
 */
export function causeOf(failure: unknown): string | undefined {
  if (!(failure instanceof Error) || 'response' in failure) return undefined
  return failure.message
}
