/** A test's extent in `npm test`, and in `npm run test:long`. */
interface Extents<What> {
  quick: What
  long: What
}

/** Chooses the extent of a test, by the command that runs it. */
export function extent<What>({ quick, long }: Extents<What>): What {
  return process.env['EXTENT'] === 'all' ? long : quick
}

const seedSetting = process.env['SEED'] ?? '1'

/**
 * The seed of random choices. By default each run has the same seed, so that a new failure comes from a change of the code.
 * `SEED=7` sets another seed, and `SEED=fresh` a random one.
 */
export const seed = seedSetting === 'fresh' ? Date.now() % 2 ** 31 : Number(seedSetting)
if (!Number.isInteger(seed)) throw new Error(`SEED is "${seedSetting}". It takes a whole number, or "fresh".`)
if (seedSetting === 'fresh') console.log(`SEED=${seed}`)

/** The seeds of this many rounds: {@link seed} and the numbers after it. */
export function seedsOf(rounds: Extents<number>): number[] {
  return Array.from({ length: extent(rounds) }, (_each, round) => seed + round)
}
