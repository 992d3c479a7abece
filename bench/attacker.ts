/** Posts the body on standard input to `URL` with the content type `TYPE`, over eight connections, for at most a minute. */
import { Agent, request } from 'node:http'
import { buffer } from 'node:stream/consumers'

const { URL: url = '', TYPE: type = '' } = process.env
const body = await buffer(process.stdin)
const agent = new Agent({ keepAlive: true, maxSockets: 8 })
const headers = { 'content-type': type, 'content-length': body.length, apikey: 'public-anon-key' }
const end = Date.now() + 60_000

function post() {
  return new Promise<void>((resolve) => {
    const sending = request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume().once('close', resolve)
    })
    sending.once('error', () => resolve())
    sending.end(body)
  })
}

console.log('attacking')
await Promise.all(
  Array.from({ length: 8 }, async () => {
    while (Date.now() < end) await post()
  }),
)
