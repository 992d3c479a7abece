import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** What a program prints while it runs. */
export interface Output {
  /** Everything that it has printed so far. */
  output: () => string
  /** Resolves when its output holds the text; rejects, with all that it printed, when it ends before. */
  printed: (text: string | RegExp) => Promise<void>
}

/** Collects what a program prints, on those of its streams that are piped. */
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
    printed: (text) =>
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
