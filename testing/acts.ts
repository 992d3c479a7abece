import * as fc from 'fast-check'

import { seed } from './extent.ts'

/** One step of a player, with its random choices. */
export type Act<State extends object> = fc.AsyncCommand<State, undefined>

interface Doing<State extends object, Choices extends unknown[]> {
  /** Whether it is possible now. Otherwise it is skipped. */
  can?: (state: Readonly<State>, choices: Choices) => boolean
  do: (state: State, choices: Choices) => Promise<unknown>
}

/**
 * Makes a kind of act.
 *
 * @param name Its name in the output of a failing run.
 * @param choices The sources of its choices. The first value of each is the simplest one.
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
  /** The number of hours to play. */
  hours: number
  /** The most acts of an hour. The fewest are half of it. */
  most: number
  /** Milliseconds after which the search for a shorter hour and the play end. */
  patience: number
  begin: () => Promise<State>
  /** Checks the invariants after each act. */
  afterEach?: (state: State) => Promise<void>
  end?: (state: State) => Promise<unknown>
}

/**
 * Plays hours of random acts, one act after another. A failing hour is played again with fewer acts and simpler choices, until no
 * act can be left out.
 *
 * @returns The number of acts that ran, without skipped ones.
 * @throws The first failing hour, reduced to the acts that are needed.
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

/** Sequences of at least `least` acts. Shrinking may make them shorter. */
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
      // From its second read on, `value` returns copies, which do not record which acts were played.
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
