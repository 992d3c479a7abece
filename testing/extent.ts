/**
 * How much of it is tried.
 *
 * @param part In `npm test`, where a new seed or the states that differ find most.
 * @param all In `npm run test:long`.
 */
export function extent<What>(part: What, all: What): What {
  return process.env['EXTENT'] === 'all' ? all : part
}

/** What a run is seeded with: what the environment says, else another number each time. */
export function seedOf(variable: string): number {
  const seed = Number(process.env[variable] ?? Date.now() % 2 ** 31)
  console.log(`${variable}=${seed}`)
  return seed
}

/**
 * What the rounds of a run are seeded with: one in `npm test`, as in a run that plays one again.
 *
 * @param many Rounds in `npm run test:long`.
 */
export function seedsOf(variable: string, many: number): number[] {
  const rounds = process.env[variable] === undefined ? extent(1, many) : 1
  const first = seedOf(variable)
  return Array.from({ length: rounds }, (_each, round) => first + round)
}
