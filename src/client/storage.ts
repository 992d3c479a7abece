/** The methods of a browser's storage that the pages use. */
export type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/**
 * A store of the browser, by name. If the browser refuses a value, because the store is full or forbidden, the value is kept
 * in memory while the page is open.
 */
export function storageOf(name: 'localStorage' | 'sessionStorage'): Store {
  const inMemory = new Map<string, string>()
  let hasWarned = false
  const attempt = <Result>(access: (storage: Storage) => Result): Result | undefined => {
    try {
      // Reading the property already throws if storage is forbidden.
      return access(globalThis[name])
    } catch (error) {
      if (!hasWarned) console.info(`${name} refused a value, which is kept until the page closes:`, error)
      hasWarned = true
      return undefined
    }
  }
  return {
    getItem: (key) => inMemory.get(key) ?? attempt((storage) => storage.getItem(key)) ?? null,
    setItem(key, value) {
      inMemory.set(key, value)
      attempt((storage) => {
        storage.setItem(key, value)
        inMemory.delete(key)
      })
    },
    removeItem(key) {
      inMemory.delete(key)
      attempt((storage) => storage.removeItem(key))
    },
  }
}
