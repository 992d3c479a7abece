import { expect, test } from 'vitest'

import { MissingScript, scriptOf } from './missing-script.ts'

test('a script that cannot be loaded gives a sentence that says what to do', async () => {
  expect(await scriptOf(Promise.resolve('module'))).toBe('module')
  const cause = new TypeError('404')
  const missing = await scriptOf(Promise.reject(cause)).catch((error: unknown) => error)
  expect(missing).toBeInstanceOf(MissingScript)
  expect(missing).toMatchObject({
    cause,
    message: expect.stringContaining('Please reload this page.') as string,
  })
})
