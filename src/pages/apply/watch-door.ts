import { readDoor, type Door } from '../../client/door.ts'
import type { DataInterface } from '../../client/rest.ts'

/** Milliseconds between two questions whether the door is open, on average. A random part spreads the pages that wait. */
const interval = 60_000

/**
 * Asks again while the door is closed: now and then if the page can be seen, and when somebody comes back to it.
 *
 * @param isClosed Whether the page shows a closed door.
 * @param show Shows the state of the door.
 * @returns A function that asks now, and one that ends the watch.
 */
export function watchDoor(backend: DataInterface, isClosed: () => boolean, show: (door: Door) => void) {
  let timer: ReturnType<typeof setTimeout> | undefined

  async function ask() {
    const door = await readDoor(backend)
    if (door) show(door)
  }
  function askAgain() {
    if (isClosed() && !document.hidden) void ask()
  }
  function wait() {
    timer = setTimeout(
      () => {
        askAgain()
        wait()
      },
      interval * (0.75 + Math.random() / 2),
    )
  }

  document.addEventListener('visibilitychange', askAgain)
  wait()
  return {
    ask,
    end() {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', askAgain)
    },
  }
}
