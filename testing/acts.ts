import * as fc from 'fast-check'

import { seed } from './extent.ts'

/** Something that a player does, with what it chooses. */
export type Act<State extends object> = fc.AsyncCommand<State, undefined>

interface Doing<State extends object, Choices extends unknown[]> {
  /** Tells whether it can be done now; otherwise it is left out. */
  can?: (state: Readonly<State>, choices: Choices) => boolean
  do: (state: State, choices: Choices) => Promise<unknown>
}

/**
 * Makes a kind of act.
 *
 * @param name How a failing run names it.
 * @param choices Where its choices come from; the first value of each is the simplest one.
 */
export function actOf<State extends object, Choices extends unknown[]>(
  name: string,
  choices: { [Place in keyof Choices]: fc.Arbitrary<Choices[Place]> },
  { can, do: run }: Doing<State, NoInfer<Choices>>,
): fc.Arbitrary<Act<State>> {
  return fc.tuple<Choices>(...choices).map((chosen) => ({
    check: (state) => can?.(state, chosen) ?? true,
    run: async (state) => {
      await run(state, chosen)
    },
    toString: () => `${name}(${chosen.map((each) => fc.stringify(each)).join(', ')})`,
  }))
}

interface Hours<State extends object> {
  acts: fc.Arbitrary<Act<State>>[]
  /** How many hours are played. */
  hours: number
  /** How many acts an hour has at the most, and half of it at the least. */
  most: number
  /** Milliseconds after which no shorter hour is looked for, and nothing more is played. */
  patience: number
  begin: () => Promise<State>
  /** Checks what has to hold after each act. */
  afterEach?: (state: State) => Promise<void>
  end?: (state: State) => Promise<unknown>
}

/**
 * Plays hours of random acts, one act after another. An hour that fails is played again with fewer acts and simpler choices,
 * until none of them can be left out.
 *
 * @returns How many acts were done; those that cannot be done are left out.
 * @throws With the acts that are left of the first hour that fails.
 */
export async function playHours<State extends object>({
  acts,
  hours,
  most,
  patience,
  begin,
  afterEach = async () => {},
  end = async () => {},
}: Hours<State>): Promise<number> {
  let done = 0
  const next = async (state: State) => {
    done += 1
    await afterEach(state)
  }
  const followed = acts.map((each) => each.map((one) => followedBy(one, next)))
  const hour = new LongHour<State>(
    fc.commands(followed, { maxCommands: most, size: 'max', disableReplayLog: true }),
    most / 2,
  )
  await fc.assert(
    fc.asyncProperty(hour, async (played) => {
      const state = await begin()
      try {
        await fc.asyncModelRun(() => ({ model: state, real: undefined }), played)
      } finally {
        await end(state)
      }
    }),
    {
      seed,
      numRuns: hours,
      plugins: [fc.interruptAfterTimeLimit(patience, { failOnInterrupt: true })],
    },
  )
  return done
}

function followedBy<State extends object>(
  done: Act<State>,
  afterEach: (state: State) => Promise<void>,
): Act<State> {
  return {
    check: (state) => done.check(state),
    run: async (state) => {
      await done.run(state, undefined)
      await afterEach(state)
    },
    toString: () => done.toString(),
  }
}

type PlayedHour<State extends object> = Iterable<Act<State>>

/** Hours that are long at first; made shorter they are of any length. */
class LongHour<State extends object> extends fc.Arbitrary<PlayedHour<State>> {
  readonly #any: fc.Arbitrary<PlayedHour<State>>
  readonly #least: number

  constructor(any: fc.Arbitrary<PlayedHour<State>>, least: number) {
    super()
    this.#any = any
    this.#least = least
  }

  generate(random: fc.Random): fc.Value<PlayedHour<State>> {
    for (;;) {
      const hour = this.#any.generate(random, undefined)
      // Its `value` gives copies from the second time on, of which nothing tells what was played.
      // oxlint-disable-next-line no-underscore-dangle -- fast-check names it so.
      if ([...hour.value_].length >= this.#least) return hour
    }
  }

  canShrinkWithoutContext(value: unknown): value is PlayedHour<State> {
    return this.#any.canShrinkWithoutContext(value)
  }

  shrink(value: PlayedHour<State>, context: unknown): fc.Stream<fc.Value<PlayedHour<State>>> {
    return this.#any.shrink(value, context)
  }
}
