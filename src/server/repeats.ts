/** Milliseconds for which something that was reported is only counted. */
const window = 60_000

/** Counts what repeats, so that a log has it once. */
export interface Repeats {
  /**
   * Whether something with this key was reported in the last minute. It is then only counted.
   *
   * @param report Called at the end of that minute with the number of repeats, if there were any.
   */
  isRepeated: (key: string, report: (count: number) => void) => boolean
  /** Reports the numbers at once. */
  end: () => void
}

/**
 * Creates a counter of what repeats.
 *
 * @param most The number of keys that are counted at a time; default no limit. Others do not count as repeated.
 */
export function createRepeats(most = Number.POSITIVE_INFINITY): Repeats {
  const pending = new Map<string, { count: number; finish: () => void }>()
  return {
    isRepeated(key, report) {
      const known = pending.get(key)
      if (known !== undefined) known.count += 1
      if (known !== undefined || pending.size >= most) return known !== undefined
      const finish = () => {
        clearTimeout(timer)
        pending.delete(key)
        if (counted.count > 0) report(counted.count)
      }
      const timer = setTimeout(finish, window).unref()
      const counted = { count: 0, finish }
      pending.set(key, counted)
      return false
    },
    end() {
      for (const { finish } of pending.values()) finish()
    },
  }
}
