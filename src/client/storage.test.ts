import { afterEach, expect, test, vi } from 'vitest'

import { storageOf } from './storage.ts'

afterEach(() => {
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

/** A store that holds this many values. */
function storeOf(room: number) {
  const kept = new Map<string, string>()
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem(key: string, value: string) {
      if (kept.size >= room && !kept.has(key)) throw new Error('full')
      kept.set(key, value)
    },
    removeItem: (key: string) => kept.delete(key),
  })
  return kept
}

test('a stored value survives a reload, and is gone once it is removed', () => {
  const kept = storeOf(1)
  const told = vi.spyOn(console, 'info').mockReturnValue()
  const store = storageOf('localStorage')
  expect(store.getItem('a')).toBeNull()
  store.setItem('a', '1')
  expect(Object.fromEntries(kept)).toEqual({ a: '1' })
  expect(storageOf('localStorage').getItem('a')).toBe('1')
  kept.set('a', 'of another window')
  expect(store.getItem('a')).toBe('of another window')
  store.removeItem('a')
  expect([store.getItem('a'), kept.size]).toEqual([null, 0])
  expect(told).not.toHaveBeenCalled()
})

test('a value that a full store refuses is held in memory, reported once, and stored when there is room', () => {
  const kept = storeOf(0)
  const told = vi.spyOn(console, 'info').mockReturnValue()
  const store = storageOf('localStorage')
  store.setItem('a', '1')
  expect(told).toHaveBeenCalledOnce()
  store.setItem('b', '2')
  expect([store.getItem('a'), store.getItem('b')]).toEqual(['1', '2'])
  expect(told.mock.calls).toEqual([
    ['What belongs into localStorage is kept for as long as the page is open:', new Error('full')],
  ])
  store.removeItem('b')
  expect(store.getItem('b')).toBeNull()
  kept.set('a', 'old')
  store.setItem('a', '3')
  kept.set('a', '4')
  expect(store.getItem('a')).toBe('4')
})

test('all values are held in memory where storage is forbidden', () => {
  vi.spyOn(console, 'info').mockReturnValue()
  const store = storageOf('sessionStorage')
  expect(store.getItem('a')).toBeNull()
  store.setItem('a', '1')
  expect(store.getItem('a')).toBe('1')
  store.removeItem('a')
  expect(store.getItem('a')).toBeNull()
})
