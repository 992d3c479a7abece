import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** The output of a running program. */
export interface Output {
  /** The whole output so far. */
  output: () => string
  /** Resolves when the output contains the text. Rejects with the whole output if the program ends first. */
  waitForOutput: (text: string | RegExp) => Promise<void>
}

/** Collects a program's output on its piped streams. */
export function outputOf(child: ChildProcess): Output {
  let output = ''
  const waiting = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      for (const check of waiting) check()
    })
  }
  const exited = once(child, 'exit')
  return {
    output: () => output,
    waitForOutput: (text) =>
      new Promise<void>((resolve, reject) => {
        const check = () => {
          if (typeof text === 'string' ? !output.includes(text) : !text.test(output)) return
          waiting.delete(check)
          resolve()
        }
        waiting.add(check)
        exited.then(() => reject(new Error(`${child.spawnfile} ended:\n${output}`)), reject)
        check()
      }),
  }
}
