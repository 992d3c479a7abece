import { useLayoutEffect } from 'react'

let listener = () => {}

/** Sets the function to call when a screen has loaded its content. */
export function onShown(call: () => void): void {
  listener = call
}

/**
 * Reports that a screen has loaded its content.
 *
 * @param is Whether it has.
 */
export function useShown(is = true): void {
  useLayoutEffect(() => {
    if (is) listener()
  })
}
