/**
 * Makes elements of the document from JSX, where the inline scripts are built (`tools/plugins/inline-script.ts`): what is drawn
 * before React has come is written once. It takes what `react/jsx-runtime` takes of components without hooks.
 */
type Attribute = string | boolean | EventListener | undefined

interface Props {
  [name: string]: unknown
}

export function jsx(type: string | ((props: Props) => unknown), props: Props): unknown {
  if (typeof type === 'function') return type(props)
  const element = document.createElement(type)
  for (const [name, value] of Object.entries(props as Record<string, Attribute>)) {
    if (name === 'children') element.append(...partsOf(value))
    else if (typeof value === 'function')
      element.addEventListener(name.slice('on'.length).toLowerCase(), value)
    else if (value !== undefined && (value !== false || name.startsWith('aria-')))
      element.setAttribute(name === 'className' ? 'class' : name, `${value}`)
  }
  return element
}

export { jsx as jsxs }

/** Several elements without one around them. */
export function Fragment({ children }: { children?: unknown }): unknown {
  return children
}

function partsOf(children: unknown): (Node | string)[] {
  if (Array.isArray(children)) return children.flatMap(partsOf)
  if (children instanceof Node) return [children]
  return typeof children === 'string' ? [children] : []
}
