/**
 * How much of it is tried.
 *
 * @param part In `npm test`.
 * @param all In `npm run test:long`.
 */
export function extent<What>(part: What, all: What): What {
  return process.env['EXTENT'] === 'all' ? all : part
}

const given = process.env['SEED'] ?? '1'

/**
 * What random choices begin with. A commit has always the same, so that a test that fails did not fail by its seed alone;
 * `SEED=7` is another one, and `SEED=fresh` one that nobody tried.
 */
export const seed = given === 'fresh' ? Date.now() % 2 ** 31 : Number(given)
if (!Number.isInteger(seed)) throw new Error(`SEED is "${given}". It takes a whole number, or "fresh".`)
if (given === 'fresh') console.log(`SEED=${seed}`)

/**
 * The seeds of a run's rounds, each one more than the one before.
 *
 * @param part How many rounds in `npm test`.
 * @param all How many in `npm run test:long`.
 */
export function seedsOf(part: number, all: number): number[] {
  return Array.from({ length: extent(part, all) }, (_each, round) => seed + round)
}
