/** What keeps a program from running and an operator can mend. The message is one sentence that says how. */
export class OperatorError extends Error {}

/** Runs a program; what an operator can mend is said in its one sentence, and the exit code is 1. */
export async function runProgram(main: () => Promise<void>): Promise<void> {
  try {
    await main()
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    console.error(error.message)
    process.exitCode = 1
  }
}
