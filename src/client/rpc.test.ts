import { expect, test } from 'vitest'

import { answerIn, requestOf } from './rpc.ts'

test('a function is called by its name, with its arguments as JSON, as whose token it is', () => {
  const request = requestOf('https://project.example', 'key', 'token', 'desk_note', { note: 'A strong one.' })
  expect(request).toEqual({
    url: 'https://project.example/rest/v1/rpc/desk_note',
    init: {
      method: 'POST',
      headers: { apikey: 'key', authorization: 'Bearer token', 'content-type': 'application/json' },
      body: '{"note":"A strong one."}',
    },
  })
})

test('what a function answers is JSON, or nothing', async () => {
  expect(await answerIn(new Response('[1]'))).toEqual([1])
  expect(await answerIn(new Response(''))).toBeNull()
  await expect(answerIn(new Response('<h1>Welcome</h1>'))).rejects.toThrow(SyntaxError)
})

test.each([
  ['{"message":"Not yours.","code":"42501"}', 'Not yours.', '42501'],
  ['{"message":"Not now."}', 'Not now.', ''],
  ['<h1>Bad Gateway</h1>', '<h1>Bad Gateway</h1>', ''],
  ['null', 'null', ''],
])('a refusal is told in its own words: %s', async (text, message, code) => {
  await expect(answerIn(new Response(text, { status: 403 }))).rejects.toMatchObject({
    name: 'RefusedCall',
    message,
    code,
  })
})
