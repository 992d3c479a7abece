import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/** @typedef {Parameters<import('oxlint/plugins-dev').RuleTester['run']>[1]} Rule */
/** @typedef {{ range: [number, number], source?: object | null }} Import A node that may import a module. */

/** The imports that arrows.txt allows each folder, besides the folder's own files. A file may have a row instead. */
export const folders = foldersIn(readFileSync(new URL('arrows.txt', import.meta.url), 'utf8'))

/** @param {string} text */
function foldersIn(text) {
  /** @type {Map<string, string[]>} */
  const importsByFolder = new Map()
  /** @type {string[]} */
  let allowed = []
  for (const line of text.split('\n').filter((each) => /^[^#]/.test(each))) {
    if (line.startsWith(' ')) allowed.push(...line.trim().split(' '))
    else importsByFolder.set(line, (allowed = []))
  }
  return importsByFolder
}

/**
 * Returns the file itself if it has its own row, and otherwise its folder.
 *
 * @param {string} file The file's path in the project.
 */
const folderOf = (file) => (folders.has(file) ? file : dirname(file))

/**
 * Refuses an import that arrows.txt does not allow.
 *
 * @type {Rule}
 */
const allowedRule = {
  // With `refuseAll` the rule refuses each import, so that a test learns which imports it sees.
  meta: { schema: [{ type: 'object', properties: { refuseAll: { type: 'boolean' } } }] },
  create(context) {
    const file = relative(context.cwd, context.filename)
    const folder = folderOf(file)
    const allowedNames = folders.get(folder)
    const [{ refuseAll = false } = {}] = /** @type {{ refuseAll?: boolean }[]} */ (context.options)
    if (/\.test\.tsx?$/.test(file)) return {}

    /** @param {Import} node */
    const check = (node) => {
      // If the module's name is computed, it is unknown here.
      if (!node.source || !('value' in node.source) || typeof node.source.value !== 'string') return
      const names = namesOf(file, node.source.value)
      if (!refuseAll && names.some((name) => name === folder || allowedNames?.includes(name))) return
      context.report({
        node,
        message: `${folder} may not import ${names[0]}: tools/arrows.txt does not allow it.`,
      })
    }
    return {
      Program(node) {
        if (allowedNames === undefined)
          context.report({ node, message: `tools/arrows.txt has no folder ${folder}.` })
      },
      ImportDeclaration: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      ImportExpression: check,
      TSImportType: check,
    }
  },
}

/**
 * Returns the names that a module may have in arrows.txt. A file has its path and its folder, and a package its name and `*`.
 * Other modules have `node:` and `*`, or `virtual:`.
 *
 * @param {string} importer
 * @param {string} specifier
 */
function namesOf(importer, specifier) {
  if (specifier.startsWith('.')) {
    const file = join(dirname(importer), specifier.replace(/\?.*/, ''))
    return [file, folderOf(file)]
  }
  if (specifier.startsWith('virtual:')) return ['virtual:']
  return [/^(?:node:|(?:@[^/]+\/)?[^/]+)/.exec(specifier)?.[0] ?? specifier, '*']
}

export default { meta: { name: 'arrows' }, rules: { allowed: allowedRule } }
