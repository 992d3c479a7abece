import { useLayoutEffect } from 'react'

let listener = () => {}

/** Sets the function to call when a screen has loaded its content. */
export function onScreenLoaded(call: () => void): void {
  listener = call
}

/**
 * Reports that a screen has loaded its content.
 *
 * @param isLoaded False while it is still loading.
 */
export function useScreenLoaded(isLoaded = true): void {
  useLayoutEffect(() => {
    if (isLoaded) listener()
  })
}
