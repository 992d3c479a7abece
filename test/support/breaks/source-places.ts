import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { SourceChange } from './break.ts'

const folders = ['src', 'supabase/schemas']

/** The place of an expression in the product's source. */
export interface Place {
  file: string
  /** The text of the file before the place, at the place, and after it. */
  before: string
  at: string
  after: string
}

/** Reads the source of the product, without tests. Returns the text of each file. */
export async function readProduct(): Promise<Map<string, string>> {
  const files = new Map<string, string>()
  for (const folder of folders) {
    for (const name of await readdir(folder, { recursive: true })) {
      if (!/\.(sql|tsx?)$/.test(name) || /\.test\.tsx?$|migrations/.test(name)) continue
      const file = join(folder, name)
      files.set(file, await readFile(file, 'utf8'))
    }
  }
  return files
}

/** Finds the places that a break could change. There has to be exactly one. */
export function placesOf({ declaration, find }: SourceChange, product: Map<string, string>): Place[] {
  return Array.from(product).flatMap(([file, source]) =>
    declarationsOf(declaration, source).flatMap(({ begin, text }) =>
      Array.from(text.matchAll(patternOf(find)), ({ index, 0: at }) => ({
        file,
        before: source.slice(0, begin + index),
        at,
        after: source.slice(begin + index + at.length),
      })),
    ),
  )
}

/** Finds the declarations with a name. Each ends before the next declaration at the beginning of a line. */
function declarationsOf(name: string, source: string) {
  if (!source.includes(name)) return []
  const begins = source.matchAll(
    new RegExp(
      `^(?:export )?(?:default )?(?:async )?(?:function|const|class|create function) ${name}\\b`,
      'gm',
    ),
  )
  return Array.from(begins, ({ index: begin, 0: head }) => {
    const rest = source.slice(begin + head.length)
    const end = rest.search(/^(?:\/\*\*|(?:export|async|function|const|class|interface|type|create)\b)/m)
    return { begin, text: head + (end < 0 ? rest : rest.slice(0, end)) }
  })
}

/** Makes a pattern that matches an expression with any white space. */
function patternOf(expression: string) {
  const characters = Array.from(expression.replaceAll(/\s/g, ''))
  return new RegExp(characters.map((each) => each.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&')).join('\\s*'), 'g')
}
