import { expect, test } from 'vitest'

import { readListenAddress, writtenAddress } from './listen-address.ts'

const read = (given: string) => readListenAddress({ METRICS_ADDRESS: given }, 'METRICS_ADDRESS')

test.each([
  ['127.0.0.1:9464', '127.0.0.1', 9464],
  ['[::1]:1', '::1', 1],
  ['[::FFFF:10.0.0.1]:9464', '::FFFF:10.0.0.1', 9464],
  ['my-host.example:65535', 'my-host.example', 65_535],
])('the address %s is read, and written as it was', (given, host, port) => {
  const address = read(` ${given}\n`)
  expect(address).toEqual({ host, port, setting: 'METRICS_ADDRESS' })
  expect(address && writtenAddress(address)).toBe(given)
})

test('an address that is not set is none', () => {
  expect([read(''), readListenAddress({}, 'METRICS_ADDRESS')]).toEqual([undefined, undefined])
})

test.each([
  '9464',
  ':9464',
  '127.0.0.1',
  '127.0.0.1:',
  '127.0.0.1:0',
  '127.0.0.1:65536',
  '127.0.0.1:999999',
  '127.0.0.1:9464/',
  '::1:9464',
  '[::1:9464',
  '[]:9464',
  'http://127.0.0.1:9464',
])('the address %s is refused in one sentence', (given) => {
  expect(() => read(given)).toThrow(
    `METRICS_ADDRESS is "${given}" but should be an address of this machine and a port, such as 127.0.0.1:9464.`,
  )
})
