import { afterEach, expect, test, vi } from 'vitest'

import { storageOf } from './storage.ts'

afterEach(() => {
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

/** Replaces `localStorage` by a store for at most this many values. Returns its values. */
function mockStorage(capacity: number) {
  const stored = new Map<string, string>()
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem(key: string, value: string) {
      if (stored.size >= capacity && !stored.has(key)) throw new Error('full')
      stored.set(key, value)
    },
    removeItem: (key: string) => stored.delete(key),
  })
  return stored
}

test('a stored value survives a reload, and is gone once it is removed', () => {
  const stored = mockStorage(1)
  const info = vi.spyOn(console, 'info').mockReturnValue()
  const store = storageOf('localStorage')
  expect(store.getItem('a')).toBeNull()
  store.setItem('a', '1')
  expect(Object.fromEntries(stored)).toEqual({ a: '1' })
  expect(storageOf('localStorage').getItem('a')).toBe('1')
  stored.set('a', 'of another window')
  expect(store.getItem('a')).toBe('of another window')
  store.removeItem('a')
  expect([store.getItem('a'), stored.size]).toEqual([null, 0])
  expect(info).not.toHaveBeenCalled()
})

test('refused values are kept in memory, only the first refusal is logged, and a later value is stored if there is room', () => {
  const stored = mockStorage(0)
  const info = vi.spyOn(console, 'info').mockReturnValue()
  const store = storageOf('localStorage')
  store.setItem('a', '1')
  expect(info).toHaveBeenCalledOnce()
  store.setItem('b', '2')
  expect([store.getItem('a'), store.getItem('b')]).toEqual(['1', '2'])
  expect(info.mock.calls).toEqual([
    ['localStorage refused a value, which is kept until the page closes:', new Error('full')],
  ])
  store.removeItem('b')
  expect(store.getItem('b')).toBeNull()
  stored.set('a', 'old')
  store.setItem('a', '3')
  stored.set('a', '4')
  expect(store.getItem('a')).toBe('4')
})

test('all values are kept in memory if storage is forbidden', () => {
  vi.spyOn(console, 'info').mockReturnValue()
  const store = storageOf('sessionStorage')
  expect(store.getItem('a')).toBeNull()
  store.setItem('a', '1')
  expect(store.getItem('a')).toBe('1')
  store.removeItem('a')
  expect(store.getItem('a')).toBeNull()
})
