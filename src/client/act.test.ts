import { afterEach, expect, test, vi } from 'vitest'

import { newActId } from './act.ts'

afterEach(() => vi.restoreAllMocks())

test.each([
  [0x00, '00000000-0000-4000-8000-000000000000'],
  [0x1a, 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'],
  [0xff, 'ffffffff-ffff-4fff-8fff-ffffffffffff'],
])('an act’s id is a version 4 UUID made of random bytes, such as %i', (byte, id) => {
  vi.spyOn(crypto, 'getRandomValues').mockImplementation((bytes) => {
    if (bytes instanceof Uint8Array) bytes.fill(byte)
    return bytes
  })
  expect(newActId()).toBe(id)
})
