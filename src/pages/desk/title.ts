import { useEffect } from 'react'

/**
 * Names the screen in the window's title, by which tabs, Back and screen readers tell one from another.
 *
 * @param name As its heading has it: of an application, whose it is.
 */
export function useTitle(name: string): void {
  useEffect(() => {
    document.title = `${name} · Unplugged.`
  }, [name])
}
