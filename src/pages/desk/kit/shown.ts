import { useLayoutEffect } from 'react'

let listener = () => {}

/** Sets what is called whenever a screen has something to show that was not there while it was loading. */
export function onShown(call: () => void): void {
  listener = call
}

/**
 * Tells that a screen has something to show.
 *
 * @param is Whether it does.
 */
export function useShown(is = true): void {
  useLayoutEffect(() => {
    if (is) listener()
  })
}
