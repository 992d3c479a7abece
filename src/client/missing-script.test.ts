import { expect, test } from 'vitest'

import { MissingScriptError, loadScript } from './missing-script.ts'

test('a script that cannot be loaded gives a sentence that says what to do', async () => {
  expect(await loadScript(Promise.resolve('module'))).toBe('module')
  const cause = new TypeError('404')
  const missing = await loadScript(Promise.reject(cause)).catch((error: unknown) => error)
  expect(missing).toBeInstanceOf(MissingScriptError)
  expect(missing).toMatchObject({
    cause,
    message: expect.stringContaining('Please reload this page.') as string,
  })
})
