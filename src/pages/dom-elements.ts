/**
 * Creates DOM elements from JSX. Inline scripts use this module instead of `react/jsx-runtime`
 * (`tools/plugins/inline-script.ts`), so that components without hooks can be shown before React has loaded.
 */
type Attribute = string | boolean | EventListener | undefined

interface Props {
  [name: string]: unknown
}

/**
 * Creates an element, or calls a component.
 *
 * @param props As in React: handlers such as `onClick`, `className`, and attributes.
 */
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

/** Groups elements without a parent element. */
export function Fragment({ children }: { children?: unknown }): unknown {
  return children
}

function partsOf(children: unknown): (Node | string)[] {
  if (Array.isArray(children)) return children.flatMap(partsOf)
  if (children instanceof Node) return [children]
  return typeof children === 'string' ? [children] : []
}
