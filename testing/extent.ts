/**
 * The extent of a test.
 *
 * @param part In `npm test`.
 * @param all In `npm run test:long`.
 */
export function extent<What>(part: What, all: What): What {
  return process.env['EXTENT'] === 'all' ? all : part
}

const given = process.env['SEED'] ?? '1'

/**
 * The seed of random choices. It is the same for each run, so that a failure never depends on the seed alone. `SEED=7` sets
 * another one, and `SEED=fresh` an untried one.
 */
export const seed = given === 'fresh' ? Date.now() % 2 ** 31 : Number(given)
if (!Number.isInteger(seed)) throw new Error(`SEED is "${given}". It takes a whole number, or "fresh".`)
if (given === 'fresh') console.log(`SEED=${seed}`)

/**
 * The seeds of a run's rounds, counted up by one.
 *
 * @param part The number of rounds in `npm test`.
 * @param all The number of rounds in `npm run test:long`.
 */
export function seedsOf(part: number, all: number): number[] {
  return Array.from({ length: extent(part, all) }, (_each, round) => seed + round)
}
