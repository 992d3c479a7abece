import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Reads a recipe of `deploy/`, with a test's values in place of those that an operator edits. */
export async function readRecipe(name: string, replacements: Record<string, string>): Promise<string> {
  const path = join('deploy', name)
  return replaceAll(path, await readFile(path, 'utf8'), replacements)
}

/**
 * Reads the commands under a heading of a page, with a test's values in place of those that an operator edits.
 *
 * @returns The section's code blocks of this language, in order.
 */
export async function readCommands(
  path: string,
  heading: string,
  replacements: Record<string, string> = {},
  language: 'sh' | 'sql' = 'sh',
): Promise<string[]> {
  const [, section = ''] = (await readFile(path, 'utf8')).split(`\n## ${heading}\n`)
  const [text = ''] = section.split('\n## ')
  const codeBlock = new RegExp(`^( *)\`\`\`${language}\\n([^]*?)^ *\`\`\`$`, 'gm')
  const blocks = [...text.matchAll(codeBlock)].map(([, indent = '', block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )
  const separator = '\n\u0000'
  return replaceAll(`${path}, "${heading}",`, blocks.join(separator), replacements).split(separator)
}

function replaceAll(source: string, text: string, replacements: Record<string, string>) {
  let result = text
  for (const [documented, actual] of Object.entries(replacements)) {
    if (!result.includes(documented)) throw new Error(`${source} does not contain "${documented}"`)
    result = result.replaceAll(documented, actual)
  }
  return result
}
