import { relative } from 'node:path'

/** @typedef {Parameters<import('oxlint/plugins-dev').RuleTester['run']>[1]} Rule */

/**
 * Refuses an exported declaration of the product (`src/`, without tests) that has no docstring. Constants on adjacent lines share
 * the docstring of the first.
 *
 * @type {Rule}
 */
const exported = {
  create(context) {
    const file = relative(context.cwd, context.filename)
    if (!file.startsWith('src/') || /\.test\.tsx?$/.test(file)) return {}
    const { sourceCode } = context
    return {
      Program(program) {
        let line = -1
        let previousName = ''
        for (const node of program.body) {
          const isExported = node.type === 'ExportNamedDeclaration'
          const declaration = isExported ? node.declaration : node
          if (!declaration) continue
          const isDescribed = sourceCode
            .getCommentsBefore(node)
            .some(({ type, value }) => type === 'Block' && value.startsWith('*'))
          const isNextConstant =
            declaration.type === 'VariableDeclaration' && node.loc.start.line === line + 1
          const name =
            'id' in declaration && declaration.id && 'name' in declaration.id ? declaration.id.name : ''
          // The implementation of an overloaded function follows its first signature.
          if (isExported && !isDescribed && !isNextConstant && (name === '' || name !== previousName))
            context.report({
              node,
              message: 'An exported declaration must have a docstring: say what it is for.',
            })
          line = declaration.type === 'VariableDeclaration' ? node.loc.end.line : -1
          previousName = name
        }
      },
    }
  },
}

export default { meta: { name: 'docstrings' }, rules: { exported } }
