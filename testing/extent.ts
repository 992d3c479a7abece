/**
 * Chooses the extent of a test.
 *
 * @param part The extent in `npm test`.
 * @param all The extent in `npm run test:long`.
 */
export function extent<What>(part: What, all: What): What {
  return process.env['EXTENT'] === 'all' ? all : part
}

const seedSetting = process.env['SEED'] ?? '1'

/**
 * The seed of random choices. By default each run has the same seed, so that a new failure comes from a change of the code.
 * `SEED=7` sets another seed, and `SEED=fresh` an untried one.
 */
export const seed = seedSetting === 'fresh' ? Date.now() % 2 ** 31 : Number(seedSetting)
if (!Number.isInteger(seed)) throw new Error(`SEED is "${seedSetting}". It takes a whole number, or "fresh".`)
if (seedSetting === 'fresh') console.log(`SEED=${seed}`)

/**
 * The seeds of a run's rounds: {@link seed} and the numbers after it.
 *
 * @param part The number of rounds in `npm test`.
 * @param all The number of rounds in `npm run test:long`.
 */
export function seedsOf(part: number, all: number): number[] {
  return Array.from({ length: extent(part, all) }, (_each, round) => seed + round)
}
