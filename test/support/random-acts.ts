import * as fc from 'fast-check'

import { seed } from './quick-or-long.ts'

/** One act of a sequence, with its random choices. */
export type Act<State extends object> = fc.AsyncCommand<State, undefined>

interface ActDefinition<State extends object, Choices extends unknown[]> {
  /** Whether the act is possible now. Otherwise it is skipped. */
  can?: (state: Readonly<State>, choices: Choices) => boolean
  do: (state: State, choices: Choices) => Promise<unknown>
}

/**
 * Makes a kind of act.
 *
 * @param name Its name in the output of a failing run.
 * @param choices The generators of its choices. A failing run is shrunk towards the first value of each.
 */
export function actOf<State extends object, Choices extends unknown[]>(
  name: string,
  choices: { [Index in keyof Choices]: fc.Arbitrary<Choices[Index]> },
  { can, do: run }: ActDefinition<State, NoInfer<Choices>>,
): fc.Arbitrary<Act<State>> {
  return fc.tuple<Choices>(...choices).map((chosen) => ({
    check: (state) => can?.(state, chosen) ?? true,
    run: async (state) => {
      await run(state, chosen)
    },
    toString: () => `${name}(${chosen.map((each) => fc.stringify(each)).join(', ')})`,
  }))
}

interface PlayOptions<State extends object> {
  acts: fc.Arbitrary<Act<State>>[]
  /** The number of sequences to play. */
  sequences: number
  /** The largest number of acts in a sequence. The smallest is half of it. */
  maxActs: number
  /** Milliseconds after which playing and shrinking stop, which is a failure. */
  timeLimit: number
  begin: () => Promise<State>
  /** Checks the invariants after each act. */
  afterEach?: (state: State) => Promise<void>
  end?: (state: State) => Promise<unknown>
}

/**
 * Plays sequences of random acts, one act after another. A failing sequence is shrunk: played again with fewer acts and simpler
 * choices, until each act is needed.
 *
 * @returns The number of acts that ran, without skipped ones.
 * @throws The first failing sequence, shrunk.
 */
export async function playRandomActs<State extends object>({
  acts,
  sequences,
  maxActs,
  timeLimit,
  begin,
  afterEach = async () => {},
  end = async () => {},
}: PlayOptions<State>): Promise<number> {
  let count = 0
  const afterAct = async (state: State) => {
    count += 1
    await afterEach(state)
  }
  const checkedActs = acts.map((each) => each.map((act) => withCheck(act, afterAct)))
  const sequence = new LongEnoughSequences<State>(
    fc.commands(checkedActs, { maxCommands: maxActs, size: 'max', disableReplayLog: true }),
    maxActs / 2,
  )
  await fc.assert(
    fc.asyncProperty(sequence, async (chosen) => {
      const state = await begin()
      try {
        await fc.asyncModelRun(() => ({ model: state, real: undefined }), chosen)
      } finally {
        await end(state)
      }
    }),
    {
      seed,
      numRuns: sequences,
      plugins: [fc.interruptAfterTimeLimit(timeLimit, { failOnInterrupt: true })],
    },
  )
  return count
}

function withCheck<State extends object>(
  act: Act<State>,
  afterEach: (state: State) => Promise<void>,
): Act<State> {
  return {
    check: (state) => act.check(state),
    run: async (state) => {
      await act.run(state, undefined)
      await afterEach(state)
    },
    toString: () => act.toString(),
  }
}

type ActSequence<State extends object> = Iterable<Act<State>>

/** Sequences of at least `fewest` acts. Shrinking may make them shorter. */
class LongEnoughSequences<State extends object> extends fc.Arbitrary<ActSequence<State>> {
  readonly sequences: fc.Arbitrary<ActSequence<State>>
  readonly #fewest: number

  constructor(sequences: fc.Arbitrary<ActSequence<State>>, fewest: number) {
    super()
    this.sequences = sequences
    this.#fewest = fewest
  }

  generate(random: fc.Random): fc.Value<ActSequence<State>> {
    for (;;) {
      const sequence = this.sequences.generate(random, undefined)
      // Each read of `value` but the first returns a copy, and copies do not record the played acts.
      // oxlint-disable-next-line no-underscore-dangle -- fast-check names it so.
      if ([...sequence.value_].length >= this.#fewest) return sequence
    }
  }

  canShrinkWithoutContext(value: unknown): value is ActSequence<State> {
    return this.sequences.canShrinkWithoutContext(value)
  }

  shrink(value: ActSequence<State>, context: unknown): fc.Stream<fc.Value<ActSequence<State>>> {
    return this.sequences.shrink(value, context)
  }
}
