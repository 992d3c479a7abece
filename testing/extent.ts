/**
 * How much of it is tried.
 *
 * @param part In `npm test`, where a new seed or the states that differ find most.
 * @param all In `npm run test:long`.
 */
export function extent<What>(part: What, all: What): What {
  return import.meta.env.MODE === 'long' ? all : part
}

/** What a run is seeded with: what the environment says, else another number each time. */
export function seedOf(variable: string): number {
  const seed = Number(process.env[variable] ?? Date.now() % 2 ** 31)
  console.log(`${variable}=${seed}`)
  return seed
}
