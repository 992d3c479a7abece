import { resolveTimeZone } from './time-zone.ts'

/** A problem that stops a program and that an operator can solve. Its message is one sentence that says how. */
export class OperatorError extends Error {}

/** Runs a program, in the time zone of `TZ`. For an `OperatorError`, it prints only the message and sets the exit code to 1. */
export async function runProgram(main: () => Promise<void>): Promise<void> {
  resolveTimeZone()
  try {
    await main()
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    console.error(error.message)
    process.exitCode = 1
  }
}
