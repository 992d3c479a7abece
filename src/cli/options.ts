import { parseArgs, type ParseArgsConfig } from 'node:util'

import { OperatorError } from '../settings/operator-error.ts'

type Options = NonNullable<ParseArgsConfig['options']>

/**
 * Reads a command's options.
 *
 * @param options The command's options, in the format of `parseArgs`. `--help` is added.
 * @param usage The text for `--help`.
 * @returns The options' values; undefined after `--help`.
 * @throws {OperatorError} for an option that does not exist.
 */
export function readOptions<const T extends Options>(options: T, usage: string) {
  const { values } = parse({ ...options, help: { type: 'boolean' } } as const, usage)
  if (!('help' in values)) return values
  console.log(usage)
  return undefined
}

function parse<const T extends Options>(options: T, usage: string) {
  try {
    return parseArgs({ options })
  } catch (cause) {
    throw new OperatorError(`${cause instanceof Error ? cause.message : String(cause)}\n\n${usage}`, {
      cause,
    })
  }
}
